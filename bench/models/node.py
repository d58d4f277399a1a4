"""A machine as one account knows it."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class Node(models.Model):
    """Hardware of one account; `node_hash` is salted on the box and never shown, `public_id` is."""

    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="bench_nodes")
    node_hash = models.CharField(max_length=128)
    public_id = models.CharField(max_length=8, db_index=True)
    is_reference = models.BooleanField("reference", default=False)
    is_counted = models.BooleanField(
        "counted",
        default=True,
        help_text="Counts as a distinct machine; unasked, three new ones per account in 30 days do.",
    )
    counts_as = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The same machine under another account of the same person.",
    )
    gpu_name = models.CharField("GPU", max_length=120, null=True, blank=True)
    driver_version = models.CharField(max_length=120, null=True, blank=True)
    vram_gb = models.FloatField("VRAM (GB)", null=True, blank=True)
    cpu_model = models.CharField("processor", max_length=120, null=True, blank=True)
    ram_gb = models.FloatField("RAM (GB)", null=True, blank=True)
    mem_total_mib = models.FloatField(null=True, blank=True)
    pcie_gen = models.BigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        verbose_name = "machine"
        constraints = [
            models.UniqueConstraint(fields=["account", "node_hash"], name="node_unique_per_account"),
            models.CheckConstraint(
                condition=Q(vram_gb__isnull=True) | Q(vram_gb__gte=0), name="node_vram_not_negative"
            ),
            models.CheckConstraint(condition=Q(ram_gb__isnull=True) | Q(ram_gb__gte=0), name="node_ram_not_negative"),
        ]
        indexes = [models.Index(fields=["node_hash"], name="node_hash_lookup")]

    def __str__(self) -> str:
        return f"machine {self.public_id}"

    @property
    def counted(self) -> "Node":
        """The machine that this one counts as; itself, but for the machines of merged accounts."""
        return self.counts_as or self
