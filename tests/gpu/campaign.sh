#!/usr/bin/env bash
# Measures SmolLM2-135M-Instruct on the NVIDIA GPU of this machine, reading only: no limit, clock or mode is touched.
#   tests/gpu/campaign.sh MODEL_FOLDER GGUF_FILE OUT_FOLDER DATASET_FOLDER PART...
# Parts: doctor, bfloat16, crowd, float32, gsm8k, cost. Bundles and the doctor's report land in OUT_FOLDER.
set -uo pipefail
model=$1 gguf=$2 out=$3 data=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
port=${PORT:-8123}
export ASYNCENERGY_GPU_READ_ONLY=1 ASYNCENERGY_IDLE_S=5 ASYNCENERGY_ENGINE_URL=http://127.0.0.1:$port
export ASYNCENERGY_DATA_DIR=/tmp/asyncenergy-campaign ASYNCENERGY_CONFIG_DIR=/tmp/asyncenergy-campaign/config
controller() { python3 -m asyncenergy_controller "$@"; }

server=
serve() { # DTYPE LABEL
  stop
  python3 "$here/transformers_server.py" --model "$model" --gguf "$gguf" --name "SmolLM2-135M-Instruct.$2" \
    --dtype "$1" --port $port >/tmp/engine.log 2>&1 &
  server=$!
  for _ in $(seq 120); do grep -q '"url"' /tmp/engine.log && return; sleep 1; done
  tail -5 /tmp/engine.log
  return 1
}
stop() { [ -n "$server" ] && kill "$server" 2>/dev/null && wait "$server" 2>/dev/null; server=; }
trap stop EXIT

measure() { # NAME TASK CONCURRENCY ITEMS MAX_TOKENS REPEATS [OPTION...]
  local name=$1 task=$2 concurrency=$3 items=$4 cap=$5 repeats=$6
  shift 6
  echo "== $name"
  controller bench run --task "$task" --concurrency "$concurrency" --items "$items" --max-tokens "$cap" \
    --repeats "$repeats" --set server=batching --json "$@" >"$out/$name.json" 2>/tmp/measure.log ||
    { echo "   exit code $?"; tail -3 /tmp/measure.log; }
  local bundle
  bundle=$(ls -td "$ASYNCENERGY_DATA_DIR"/runs/*/ | head -1)bundle.json
  [ -f "$bundle" ] && gzip -9 -c "$bundle" >"$out/$name.bundle.json.gz"
}

for part in "$@"; do
  case $part in
    doctor)
      serve bfloat16 BF16 || exit 1
      controller doctor --json >"$out/doctor.json"
      controller doctor
      ;;
    bfloat16)
      serve bfloat16 BF16 || exit 1
      measure bf16-c1 arith 1 56 64 2
      measure bf16-c4 arith 4 120 64 2
      measure bf16-c16 arith 16 256 64 2
      ;;
    crowd)
      serve bfloat16 BF16 || exit 1
      measure bf16-c64 arith 64 640 64 2
      ;;
    float32)
      serve float32 F32 || exit 1
      measure f32-c1 arith 1 40 64 2
      measure f32-c16 arith 16 208 64 2
      ;;
    gsm8k)
      serve bfloat16 BF16 || exit 1
      measure gsm8k-c1 gsm8k 1 14 200 2 --dataset-dir "$data"
      measure gsm8k-c16 gsm8k 16 64 200 2 --dataset-dir "$data"
      ;;
    cost)
      stop
      python3 "$here/sampler_cost.py" | tee "$out/sampler_cost.jsonl"
      ;;
  esac
done
