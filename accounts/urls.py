from django.urls import URLPattern, path

from accounts import views

app_name = "accounts"
urlpatterns: list[URLPattern] = [
    path("", views.account, name="account"),
    path("login/", views.Login.as_view(), name="login"),
    path("logout/", views.logout, name="logout"),
    path("signup/", views.signup, name="signup"),
    path("confirm/", views.confirmation_resend, name="confirmation-resend"),
    path("confirm/<str:token>/", views.confirm, name="confirm"),
    path("sign-out-everywhere/", views.sign_out_everywhere, name="sign-out-everywhere"),
    path("delete/", views.delete, name="delete"),
    path("password/", views.password_change, name="password-change"),
    path("password/reset/", views.password_reset, name="password-reset"),
    path("password/new/<str:uid>/<str:token>/", views.password_new, name="password-new"),
    path("keys/", views.keys, name="keys"),
    path("keys/<uuid:key_id>/revoke/", views.key_revoke, name="key-revoke"),
]
