"""The corpus as files, and what machines read first."""

from typing import Any

from django.http import FileResponse, HttpResponseBase
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pydantic_core import to_json
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from api.fields import InstantField
from api.v1.bench_answers import AnswerView, send
from api.v1.bench_schemas import RowSerializer, Shape
from api.views import PublicView
from bench.errors import NotFound
from bench.models import CorpusRelease
from bench.selectors import answers
from bench.selectors.answers import Answer
from bench.selectors.corpus import LICENCE, LICENCE_URL, corpus_release
from bench.selectors.snapshot import llms_text
from bench.services.corpus import corpus_dir
from learn.posts import posts


class FileSerializer(Shape):
    name = serializers.CharField()
    url = serializers.URLField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    media_type = serializers.CharField()


class CorpusSerializer(Shape):
    version = serializers.IntegerField(allow_null=True, help_text="data version; null before the first download")
    made_at = InstantField(allow_null=True)
    n_runs = serializers.IntegerField()
    licence = serializers.CharField()
    licence_url = serializers.URLField()
    files = FileSerializer(many=True)


class BoardSnapshotSerializer(Shape):
    data_version = serializers.CharField()
    generated_at = InstantField(allow_null=True)
    methodology_version = serializers.CharField()
    grading = serializers.CharField(help_text="edition of the thresholds")
    licence = serializers.CharField()
    licence_url = serializers.URLField()
    rows = RowSerializer(many=True)
    configs = serializers.ListField(child=serializers.DictField())
    sweeps = serializers.ListField(child=serializers.DictField())


class AnyRenderer(BaseRenderer):
    """Takes any Accept header: a file has the type that it has. Refusals are JSON."""

    media_type = "*/*"
    format = "file"

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        renderer_context["response"]["Content-Type"] = "application/json"
        return to_json(data)


@method_decorator(conditional_page, name="dispatch")
class Corpus(PublicView):
    @extend_schema(
        responses=CorpusSerializer, operation_id="bench_corpus", summary="The newest download, with its checksums"
    )
    def get(self, request: Request) -> Response:
        release = corpus_release()
        found = (
            {"version": None, "made_at": None, "n_runs": 0, "files": []}
            if release is None
            else {
                "version": release.version,
                "made_at": release.made_at,
                "n_runs": release.n_runs,
                "files": [{**one, "url": _url(request, release.version, one["name"])} for one in release.files],
            }
        )
        return Response(CorpusSerializer({**found, "licence": LICENCE, "licence_url": LICENCE_URL}).data)


class CorpusFile(PublicView):
    renderer_classes = [AnyRenderer]

    @extend_schema(responses={(200, "*/*"): OpenApiTypes.BINARY}, operation_id="bench_corpus_file", summary="One file")
    def get(self, request: Request, version: int, name: str) -> HttpResponseBase:
        release = CorpusRelease.objects.filter(version=version).first()
        file = next((one for one in release.files if one["name"] == name), None) if release else None
        path = corpus_dir() / str(version) / name
        if file is None or not path.exists():
            raise NotFound("file of the corpus; old versions are removed")
        etag = f'"{file["sha256"]}"'
        response = get_conditional_response(request._request, etag=etag) or FileResponse(
            path.open("rb"), as_attachment=True, filename=name, content_type=file["media_type"]
        )
        response.headers["ETag"] = etag
        return response


class Snapshot(AnswerView):
    answer_name = "bench-data"

    @extend_schema(responses=BoardSnapshotSerializer, operation_id="bench_data", summary="The whole board in one file")
    def get(self, request: Request) -> HttpResponseBase:
        return self.read(request)

    def answer(self, request: Request) -> Answer:
        return answers.snapshot()


class Llms(PublicView):
    """What an assistant should know before it cites the site."""

    renderer_classes = [AnyRenderer]

    @extend_schema(responses={(200, "text/plain"): OpenApiTypes.STR}, operation_id="llms", summary="For assistants")
    def get(self, request: Request) -> HttpResponseBase:
        host = request.build_absolute_uri("/")
        found = answers.remembered("llms", host, lambda _: Answer(self._text(request).encode()))
        return send(request, found, "text/plain; charset=utf-8")

    def _text(self, request: Request) -> str:
        articles = {reverse("learn:post", args=[post.slug]): post.title for post in posts()}
        return llms_text(request.build_absolute_uri, articles)


def _url(request: Request, version: int, name: str) -> str:
    return request.build_absolute_uri(reverse("api:bench-corpus-file", args=[version, name]))
