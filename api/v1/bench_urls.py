from django.urls import URLPattern, URLResolver, path

from api.v1 import bench, bench_corpus, bench_submissions

urlpatterns: list[URLPattern | URLResolver] = [
    path("leaderboard", bench.Leaderboard.as_view(), name="bench-leaderboard"),
    path("routing-table", bench.RoutingTable.as_view(), name="bench-routing-table"),
    path("recommend", bench.Recommend.as_view(), name="bench-recommend"),
    path("configs/<config_key:config_key>", bench.Config.as_view(), name="bench-config"),
    path("sweeps", bench.Sweeps.as_view(), name="bench-sweeps"),
    path("facets", bench.Facets.as_view(), name="bench-facets"),
    path("runs/<uuid:run_id>", bench.Run.as_view(), name="bench-run"),
    path("moderation-log", bench.ModerationLog.as_view(), name="bench-moderation-log"),
    path("corpus", bench_corpus.Corpus.as_view(), name="bench-corpus"),
    path("corpus/<int:version>/<str:name>", bench_corpus.CorpusFile.as_view(), name="bench-corpus-file"),
    path("submissions", bench_submissions.Submissions.as_view(), name="bench-submissions"),
    path("submissions/<uuid:submission_id>", bench_submissions.SubmissionDetail.as_view(), name="bench-submission"),
    path("submissions/<uuid:submission_id>/withdraw", bench_submissions.Withdraw.as_view(), name="bench-withdraw"),
    path("nodes", bench_submissions.Nodes.as_view(), name="bench-nodes"),
    path("nodes/<str:node_hash>/recommended-cap", bench_submissions.RecommendedCap.as_view(), name="bench-cap"),
]
