"""All writes on accounts. Each service owns its transaction."""

from accounts.services.accounts import (
    account_create,
    confirmation_send,
    email_confirm,
    password_change,
    password_require,
    password_reset,
    password_reset_send,
)
from accounts.services.keys import api_key_create, api_key_revoke, api_key_stamp
from accounts.services.logins import (
    TokenPair,
    login_close,
    login_open,
    login_with_password,
    sign_out_everywhere,
    tokens_refresh,
)

__all__ = [
    "TokenPair",
    "account_create",
    "api_key_create",
    "api_key_revoke",
    "api_key_stamp",
    "confirmation_send",
    "email_confirm",
    "login_close",
    "login_open",
    "login_with_password",
    "password_change",
    "password_require",
    "password_reset",
    "password_reset_send",
    "sign_out_everywhere",
    "tokens_refresh",
]
