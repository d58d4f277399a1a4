"""Who uses the server, and by what they prove it."""

import uuid
from collections.abc import Iterator
from typing import Any, ClassVar

from django.contrib.auth.base_user import BaseUserManager
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac

from asyncenergy import clock


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **extra: Any) -> "User":
        user = self.model(email=email.strip().lower(), **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **extra: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **extra)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=(username or "").strip().lower())


class User(AbstractUser):
    """An account. The e-mail address, in lower case, is its name."""

    username = None  # type: ignore[assignment]  # the e-mail address replaces it
    first_name = None  # type: ignore[assignment]  # nobody's name is asked for
    last_name = None  # type: ignore[assignment]
    email = models.EmailField("e-mail address", unique=True)
    email_confirmed_at = models.DateTimeField(null=True, blank=True)
    timezone = models.CharField(max_length=64, default="UTC")
    region = models.CharField(max_length=64, blank=True, default="")
    signed_out_at = models.DateTimeField("signed out everywhere at", null=True, blank=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(Lower("email"), name="user_email_unique_any_case")]

    def __str__(self) -> str:
        return self.email

    def clean(self) -> None:
        """Write the address as every look-up does; Django lowers the domain alone."""
        super().clean()
        self.email = self.email.strip().lower()

    def get_session_auth_hash(self) -> str:
        """Return what sessions and logins must match: a new password or signing out everywhere ends them all."""
        return salted_hmac("accounts.session", f"{self.password}{self.signed_out_at}", algorithm="sha256").hexdigest()

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        return iter(())


class Login(models.Model):
    """One sign-in of a program, and the family of all tokens that came from it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="logins")
    session_hash = models.CharField(max_length=64, default="")
    created_at = models.DateTimeField(default=clock.now)
    refreshed_at = models.DateTimeField(default=clock.now)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.user} since {self.created_at:%Y-%m-%d}"


class SpentToken(models.Model):
    """A refresh token that was used. Its unique `jti` decides which of two simultaneous uses came first."""

    jti = models.CharField(max_length=64, unique=True)
    login = models.ForeignKey(Login, on_delete=models.CASCADE, related_name="spent_tokens")
    spent_at = models.DateTimeField(default=clock.now)

    def __str__(self) -> str:
        return self.jti


class ApiKey(models.Model):
    """A key of a machine. Only its hash is stored; the key itself is shown once."""

    class Scope(models.TextChoices):
        BENCH = "bench", "submit measurements"
        SCHEDULE = "schedule", "schedule work"
        ALL = "all", "everything a machine does"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=80)
    scope = models.CharField(max_length=8, choices=Scope, default=Scope.ALL)
    hint = models.CharField("first characters", max_length=8)
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(scope__in=["bench", "schedule", "all"]), name="api_key_scope_is_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"
