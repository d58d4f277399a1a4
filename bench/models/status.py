"""The states a submission and each of its runs go through."""

from django.db import models


class ReviewStatus(models.TextChoices):
    PENDING = "pending", "waiting"
    QUARANTINED = "quarantined", "quarantined"
    PUBLISHED = "published", "published"
    REJECTED = "rejected", "hidden"
    WITHDRAWN = "withdrawn", "withdrawn"


WAITING = (ReviewStatus.PENDING, ReviewStatus.QUARANTINED)
