"""Secrets are replaced by markers; everything else stays as it was said."""

import re

import pytest

from iai_mcp.domain.redaction import Pattern, redact

# Letters that look random. Samples are put together here so that no scanner takes this file
# for a leak.
MIXED = "q7Xk2PzL9vRt4MwY8sBn3HdJ6fGc5TaE1uWoK0iQ" * 4
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" * 3

WELL_KNOWN = [
    ("aws-access-key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("aws-access-key", "ASIA" + "Y34FZKBOKMUTVV7A"),
    ("google-api-key", "AIza" + MIXED[:35]),
    ("google-oauth-secret", "GOCSPX-" + MIXED[:28]),
    ("google-oauth-token", "ya29." + MIXED[:60]),
    ("azure-client-secret", "abc8Q~" + MIXED[:34]),
    ("azure-storage-key", "AccountKey=" + MIXED[:86] + "=="),
    ("digitalocean-token", "dop_v1_" + HEX[:64]),
    ("databricks-token", "dapi" + HEX[:32]),
    ("github-token", "ghp_" + MIXED[:36]),
    ("github-token", "ghs_" + "a" * 36),
    ("github-token", "github_pat_" + MIXED[:22] + "_" + MIXED[:59]),
    ("gitlab-token", "glpat-" + MIXED[:20]),
    ("npm-token", "npm_" + MIXED[:36]),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc" + MIXED[:80]),
    ("rubygems-key", "rubygems_" + HEX[:48]),
    ("docker-token", "dckr_pat_" + MIXED[:27]),
    ("anthropic-key", "sk-ant-api03-" + MIXED[:93] + "AA"),
    ("openai-key", "sk-proj-" + MIXED[:74]),
    ("openai-key", "sk-" + MIXED[:20] + "T3BlbkFJ" + MIXED[:20]),
    ("openrouter-key", "sk-or-v1-" + HEX[:64]),
    ("huggingface-token", "hf_" + MIXED[:34]),
    ("groq-key", "gsk_" + MIXED[:52]),
    ("slack-token", "xoxb-123456789012-1234567890123-" + MIXED[:24]),
    ("slack-token", "xapp-1-A012-345-" + HEX[:64]),
    ("slack-webhook", "hooks.slack.com/services/T00000000/B00000000/" + MIXED[:24]),
    ("discord-token", "MTk4NjIyNDgzNDcxOTI1MjQ4." + "Cl2FMQ." + MIXED[:27]),
    ("sendgrid-key", "SG." + MIXED[:22] + "." + MIXED[:43]),
    ("mailgun-key", "key-" + HEX[:32]),
    ("mailchimp-key", HEX[:32] + "-us12"),
    ("twilio-key", "SK" + HEX[:32]),
    ("telegram-token", "110201543:" + "AA" + MIXED[:33]),
    ("stripe-key", "sk_live_" + MIXED[:24]),
    ("stripe-webhook-secret", "whsec_" + MIXED[:32]),
    ("shopify-token", "shpat_" + HEX[:32]),
    ("square-token", "sq0atp-" + MIXED[:22]),
    ("vault-token", "hvs." + MIXED[:90]),
    ("terraform-token", MIXED[:14] + ".atlasv1." + MIXED[:67]),
    ("1password-token", "ops_eyJ" + MIXED[:150]),
    ("age-key", "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"),
    ("grafana-token", "glsa_" + MIXED[:32] + "_" + HEX[:8]),
    ("linear-key", "lin_api_" + MIXED[:40]),
    ("notion-token", "ntn_" + MIXED[:46]),
    ("figma-token", "figd_" + MIXED[:40]),
    ("atlassian-token", "ATATT3" + MIXED[:150]),
    ("airtable-token", "pat" + MIXED[:14] + "." + HEX[:64]),
    ("tailscale-key", "tskey-auth-" + MIXED[:12] + "-" + MIXED[:24]),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + MIXED[:43]),
]


@pytest.mark.parametrize(("kind", "secret"), WELL_KNOWN)
@pytest.mark.parametrize(
    "sentence",
    [
        *("use {} for now", "KEY={}\n", '"{}"', "({}).", "curl -H 'X: {}' | jq", "a\\n{}\\nb"),
        *("\x1b[1;33m{}\x1b[0m", "[32m{}[0m", "q=%22{}%22&r=1", "a\\t{}\\tb"),
    ],
)
def test_a_well_known_secret_is_replaced_wherever_it_stands(
    kind: str, secret: str, sentence: str
) -> None:
    cleaned = redact(sentence.format(secret))
    assert cleaned.text == sentence.format(f"[secret:{kind}]")
    assert cleaned.counts == {kind: 1}


# Those are left out that begin as ordinary words end ("monkey-"), or with letters of no shape.
GLUED = [
    (kind, secret)
    for kind, secret in WELL_KNOWN
    if kind not in ("mailchimp-key", "twilio-key", "airtable-token", "mailgun-key")
    and kind not in ("discord-token", "azure-client-secret", "terraform-token", "telegram-token")
]


@pytest.mark.parametrize(("kind", "secret"), GLUED)
@pytest.mark.parametrize("before", ["was", "7", "CI_", "cache-"])
def test_a_well_known_secret_is_replaced_behind_a_letter_a_digit_or_a_dash(
    kind: str, secret: str, before: str
) -> None:
    assert redact(f"{before}{secret} .").text == f"{before}[secret:{kind}] ."


@pytest.mark.parametrize(
    "text",
    [
        "cache-key-" + HEX[:32],
        "disk-" + HEX[:32],
        "TASK" + HEX[:32],
        "/var/path" + MIXED[:14] + "/x",
        "whiskey-" + "abcdefghijklmnopqrstuvwxyzabcdefghij",
        "data:image/png;base64," + "A1b2" * 12 + "AKIA" + "IOSFODNN7ABCDEFG" + "q1+/",
    ],
)
def test_what_only_ends_like_the_beginning_of_a_token_stays(text: str) -> None:
    assert redact(text).text == text


IN_CONTEXT = [
    ("password", 'password = "{}"', "hunter2!"),
    ("password", "password: {}", "hunter2"),
    ("password", "The password is {}.", "Tr0ub4dor&3"),
    ("password", "my password for the wiki was `{}`", "swordfish99"),
    ("password", 'db_password: str = "{}"', "s3cr3t-pw"),
    ("password", '{{"user": "ann", "password": "{}"}}', "correcthorsebatterystaple"),
    ("password", '{{\\"password\\": \\"{}\\"}}', "hunter2"),
    ("password", "DB_PASSWORD={}", "letmein"),
    ("password", "export PGPASSWORD='{}'", "pa$s w0rd".replace(" ", "")),
    ("password", "SMTP_PASS={}", "a#b;c&d12"),
    ("password", "<password>{}</password>", "hunter2"),
    ("password", "mysql -u root -p{} shop", "hunter22"),
    ("password", "curl -u ann:{} https://example.org", "hunter2"),
    ("password", "machine example.org login ann password {}", "hunter2"),
    ("password", "deploy --password {} --force", "hunter22"),
    ("password", "Server=db;User Id=sa;Password={};Encrypt=true", "Yukon900!"),
    ("password", "Пароль: {}", "hunter2"),
    ("password", "密码: {}", "hunter2x"),
    ("password", 'if (password === "{}") {{', "hunter2"),
    ("url-password", "postgres://ann:{}@db.example.org:5432/shop", "s3cr3t"),
    ("url-password", "git clone https://ann:{}@example.org/shop.git", "p%40ss"),
    ("url-password", "redis://:{}@localhost:6379/0", "foobared"),
    ("api-key", 'api_key = "{}"', "abc123def456"),
    ("api-key", "apiKey: '{}'", HEX[:32]),
    ("api-key", "the API key is {}", HEX[:40]),
    ("api-key", "AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("api-key", "aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("api-key", "X-Api-Key: {}", MIXED[:32]),
    ("api-key", "DATADOG_APP_KEY={}", HEX[:40]),
    ("api-key", 'heroku_api_key: "{}"', "550e8400-e29b-41d4-a716-446655440000"),
    ("password", 'password: "{}"', "correct horse battery staple"),
    ("password", "      POSTGRES_PASSWORD: {}", "letmein"),
    ("api-key", "API_KEY={}", "abc123"),
    ("api-key", "curl https://x.example/?api_key={}&page=2", "abc123def456"),
    ("secret", "SESSION_SECRET={}", "supersecretvalue"),
    ("secret", 'SESSION_SECRET="{}"', "supersecretvalue"),
    ("secret", 'client_secret = "{}"', "averysecretvalue"),
    ("token", "VAULT_TOKEN={}", "abcdefgh12"),
    ("cookie", "Cookie: theme=dark; sessionid={}; lang=en", HEX[:32]),
    ("cookie", "Set-Cookie: sid={}; Path=/; HttpOnly", MIXED[:40]),
    ("secret", 'client_secret: "{}"', "9aB3-xYz-7Qw-55"),
    ("secret", "JWT_SECRET={}", "my-super-jwt-signer-2024"),
    ("api-key", "SECRET_KEY_BASE={}", HEX[:64]),
    ("token", "//registry.npmjs.org/:_authToken={}", "aB3dE5fG7hI9jK1l"),
    ("token", "https://example.org/hook?token={}&x=1", MIXED[:24]),
    ("token", 'setenv("ACCESS_TOKEN", "{}")', MIXED[:24]),
    ("token", "token: {}", HEX[:40]),
    ("authorization", "Authorization: Bearer {}", MIXED[:24]),
    ("authorization", "Authorization: Basic {}", "dXNlcjpwYXNz"),
    ("authorization", "-H 'authorization: token {}'", HEX[:40]),
    ("authorization", "headers={{'Authorization': 'Bearer {}'}}", "abcdef0123456789"),
    ("authorization", "I sent Bearer {} by mistake", MIXED[:32]),
    ("signature", "https://x.blob.example.net/a?sv=2024&sig={}&se=1", MIXED[:44] + "%3D"),
]


@pytest.mark.parametrize(("kind", "sentence", "secret"), IN_CONTEXT)
def test_a_secret_is_known_by_its_surroundings(kind: str, sentence: str, secret: str) -> None:
    cleaned = redact(sentence.format(secret))
    assert cleaned.text == sentence.format(f"[secret:{kind}]")


NO_SECRETS = [
    "password: see the wiki",
    "The password is stored in the vault.",
    "password: required",
    "Forgot your password? Reset it here: /password/reset",
    'password = "<your-password>"',
    'token = "xxxxxxxxxxxxxxxxxxxx"',
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-proj-your-openai-api-key-goes-here",
    "GITHUB_TOKEN=$TOKEN",
    "GITHUB_TOKEN=${{ secrets.GITHUB_TOKEN }}",
    "apiKey: process.env.OPENAI_API_KEY,",
    "API_KEY=${API_KEY:-}",
    'api_key = os.environ["API_KEY"]',
    "password = getpass.getpass()",
    "token = await getToken(user2)",
    "secret = config.auth.secret1",
    "const password = req.body.password;",
    "password=password",
    "DB_PASSWORD=changeme",
    'client.login("ann", "valid_token")',
    "max_tokens=4096, total_tokens: 123456",
    "budget_tokens: 1500",
    "TOKEN_TTL_SECONDS=86400",
    "tokenizer: cl100k_base",
    'token_type: "bearer"',
    'secret_name = "prod-db-credentials-2"',
    "secretKeyRef:\n  name: postgres-secret-v2\n  key: password",
    "PASSWORD_MIN_LENGTH=12",
    "the token refresh was fixed in commit " + HEX[:40],
    "commit " + HEX[:40],
    "sha256:" + HEX[:64],
    'integrity="sha512-' + MIXED[:86] + '=="',
    "request id 550e8400-e29b-41d4-a716-446655440000",
    "token: 550e8400-e29b-41d4-a716-446655440000",
    'primary_key="id", foreign_key="user_id2"',
    'cache_key = "user:42:profile:v2"',
    'key = "9f86d081884c7d65"',
    "public_key = " + MIXED[:64],
    "pk_live_" + MIXED[:24],
    "the key point is: use sha256-based signing",
    "token: base64-encoded-string-of-64-bytes",
    "password hashing: argon2id",
    "Hashing of the password is `pbkdf2:sha256`.",
    "postgres://user:password@localhost/db",
    "postgres://${USER}:${PASS}@db/shop",
    "postgres://user:<password>@db/shop",
    "http://localhost:8080/a@b",
    "see https://example.org:8443/path?key=name@host",
    "ssh git@github.com:ann/shop.git",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Bearer authentication is required",
    "we need bearer tokens-with-limited-scopes-only",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG\n-----END CERTIFICATE-----",
    "task-management-is-a-long-word-with-dashes-and-task-force",
    "version 1.2.3-beta.4 of the api key rotation at 2024-05-06T07:08:09Z",
    "[secret:github-token] and [private] are markers",
    "the secret: keep functions small",
    "secret santa is on 2024-12-24",
    "auth: oauth2",
    'auth = "none"',
    "AC" + HEX[:32],
    "ssh_key: ~/.ssh/id_ed25519",
    "IDENTITY_TOKEN_FILE=/var/run/secrets/token",
    "passwordless login",
    "auth.basic = { username: basic[0], password: basic[1] }",
    "password_encryption = scram-sha-256",
    'key="-----BEGIN PRIVATE KEY-----\\nXXXX\\nXXXX\\n-----END PRIVATE KEY-----"',
    'password: "must be at least eight characters"',
    'label_password = "Please enter your password"',
    "MAX_TOKEN=4096",
    "AUTH=disabled",
    "AUTH_BACKEND=ldap3",
    "K8S_SECRET=my-app-tls",
    "API_KEY: the key of your account",
    "NEXT_PUBLIC_KEY=abcdef123456",
    "Cookie: theme=dark; consent=accepted-all-categories",
    "data:image/png;base64,iVBORw0KGgo/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+/8=",
    "?page_token=step12345678",
    "пароль: смотри вики",
]


@pytest.mark.parametrize("text", NO_SECRETS)
def test_what_is_no_secret_stays(text: str) -> None:
    cleaned = redact(text)
    assert cleaned.text == text
    assert cleaned.counts == {}


def test_a_private_key_goes_as_a_whole() -> None:
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"
    assert redact(f"here:\n{block}\nthanks").text == "here:\n[secret:private-key]\nthanks"
    escaped = block.replace("\n", "\\n")
    assert (
        redact(f'{{"private_key": "{escaped}"}}').text == '{"private_key": "[secret:private-key]"}'
    )


def test_a_private_key_that_was_cut_off_goes_as_far_as_it_is_there() -> None:
    cut = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nAAAAB3NzaC1"
    assert redact(f"look: {cut}").text == "look: [secret:private-key]"


def test_an_env_file_keeps_its_shape() -> None:
    before = (
        "# settings\nDEBUG=true\nDATABASE_URL=postgres://shop:hunter2@db/shop\n"
        f"STRIPE_SECRET_KEY=sk_live_{MIXED[:24]}\nSESSION_SECRET={HEX[:32]}\nPORT=8080\n"
    )
    assert redact(before).text == (
        "# settings\nDEBUG=true\nDATABASE_URL=postgres://shop:[secret:url-password]@db/shop\n"
        "STRIPE_SECRET_KEY=[secret:stripe-key]\nSESSION_SECRET=[secret:secret]\nPORT=8080\n"
    )


def test_the_most_specific_kind_names_the_marker() -> None:
    assert (
        redact(f'github_token = "ghp_{MIXED[:36]}"').text
        == 'github_token = "[secret:github-token]"'
    )


def test_every_secret_is_counted() -> None:
    cleaned = redact(f"ghp_{MIXED[:36]} and gho_{MIXED[:36]}, password: hunter2")
    assert cleaned.counts == {"github-token": 2, "password": 1}


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE>b\nb</Private> c", "a [private] c"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>b", "a [private]"),
        ("a <private>b <private>c</private> d", "a [private]"),
        ("<private>a</private><private>b</private>", "[private][private]"),
        ('a <private reason="x">b</private> c', "a [private] c"),
        ("a </private> b", "a </private> b"),
        ("a private <privateer> b", "a private <privateer> b"),
        ("İİ <private>b</private> İ", "İİ [private] İ"),
    ],
)
def test_a_private_span_is_never_kept(said: str, kept: str) -> None:
    assert redact(said).text == kept


def test_a_turn_that_was_all_private_says_so() -> None:
    assert redact(" <private>all of it</private>\n").nothing_left
    assert not redact("note: <private>all of it</private>").nothing_left
    assert not redact("").nothing_left


def test_patterns_of_the_user_come_first() -> None:
    patterns = (
        Pattern("employee", re.compile(r"\bEMP-\d{6}\b")),
        Pattern("codename", re.compile(r"codename (\w+)")),
        Pattern("empty", re.compile(r"x*")),
    )
    cleaned = redact("EMP-123456 has codename bluebird", patterns)
    assert cleaned.text == "[secret:employee] has codename [secret:codename]"
    assert redact(cleaned.text, patterns).text == cleaned.text
