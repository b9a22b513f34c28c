"""Tokens with a published shape: GitHub, AWS, Slack and others, found by their prefix.

`PREFIXED` holds `(kind, prefixes, rest)`. The prefixes are searched as plain text first, so a text
without them costs next to nothing. Every repetition has an upper bound, so the time is proportional
to the text. Values that are meant to be public stay: publishable keys (`pk_live_`), account ids,
public keys.
"""

import re
from collections.abc import Iterator
from functools import cache

from iai_mcp.domain.pieces import bounds, matches
from iai_mcp.domain.redaction.keyword_scan import Span, tree
from iai_mcp.domain.redaction.values import filler, random_letters

# A token ends where its letters end: a longer run is something else.
_END = r"(?![A-Za-z0-9])"


def _first(letter: str) -> str:
    """The first letter of a token, where no word is under way.

    That is: not behind a letter, unless that ends an escape of JSON, a percent-encoded sign or a
    colour of the terminal. What is before is looked at last, so that searching is fast.
    """
    before = (r"(?<![A-Za-z0-9_-]", r"(?<=\\[nrt]", r"(?<=%[0-9A-Fa-f]{2}", r"(?<=[\[0-9;][0-9]m")
    return f"{letter}(?:{'|'.join(look + letter + ')' for look in before)})"


_HEX = "[0-9a-f]"
_WORD = "[A-Za-z0-9_-]"

# (kind, prefixes, what follows a prefix)
PREFIXED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    # Clouds.
    ("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"[A-Z0-9]{16}(?![A-Z0-9])"),
    ("google-api-key", ("AIza",), rf"{_WORD}{{35,40}}"),
    ("google-oauth-secret", ("GOCSPX-",), rf"{_WORD}{{24,40}}"),
    ("google-oauth-token", ("ya29.",), r"[A-Za-z0-9_.-]{20,2048}"),
    ("google-refresh-token", ("1//0",), rf"{_WORD}{{40,512}}"),
    ("azure-storage-key", ("AccountKey=", "SharedAccessKey="), r"[A-Za-z0-9+/]{40,100}={0,2}"),
    ("alibaba-access-key", ("LTAI",), rf"[A-Za-z0-9]{{12,24}}{_END}"),
    ("tencent-access-key", ("AKID",), rf"[A-Za-z0-9]{{32}}{_END}"),
    ("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), rf"{_HEX}{{64}}"),
    ("heroku-key", ("HRKU-",), rf"{_WORD}{{36,80}}"),
    ("netlify-token", ("nfp_",), r"[A-Za-z0-9]{36,64}"),
    ("fly-token", ("fo1_", "fm1a_", "fm1r_", "fm2_"), r"[A-Za-z0-9_+/=-]{40,2048}"),
    ("render-key", ("rnd_",), r"[A-Za-z0-9]{28,40}"),
    ("supabase-token", ("sbp_", "sb_secret_"), r"[A-Za-z0-9_-]{30,64}"),
    ("planetscale-token", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), r"[\w.-]{32,64}"),
    ("neon-key", ("napi_",), r"[a-z0-9]{50,80}"),
    ("databricks-token", ("dapi",), rf"{_HEX}{{32}}(?:-\d)?{_END}"),
    ("cloudflare-token", ("cfut_", "cfat_", "cfk_"), r"[A-Za-z0-9_-]{40,64}"),
    ("cloudflare-origin-key", ("v1.0-",), rf"{_HEX}{{24}}-{_HEX}{{146}}"),
    ("tailscale-key", ("tskey-",), r"[a-z]{2,12}-[A-Za-z0-9-]{10,80}"),
    # Code hosts, registries, build systems.
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{36,255}"),
    ("github-token", ("github_pat_",), r"[A-Za-z0-9_]{22,255}"),
    (
        "gitlab-token",
        (
            "glpat-",
            "gldt-",
            "glrt-",
            "glptt-",
            "glcbt-",
            "glft-",
            "glsoat-",
            "glimt-",
            "glagent-",
            "gloas-",
        ),
        r"[A-Za-z0-9_.-]{20,300}",
    ),
    ("gitlab-token", ("GR1348941",), rf"{_WORD}{{20,50}}"),
    ("bitbucket-token", ("ATBB",), rf"[A-Za-z0-9]{{24,40}}{_END}"),
    ("npm-token", ("npm_",), r"[A-Za-z0-9]{36,64}"),
    ("pypi-token", ("pypi-",), rf"{_WORD}{{50,1024}}"),
    ("rubygems-key", ("rubygems_",), rf"{_HEX}{{48}}"),
    ("nuget-key", ("oy2",), rf"[a-z0-9]{{43}}{_END}"),
    ("crates-token", ("cio",), rf"[A-Za-z0-9]{{32}}{_END}"),
    ("jsr-token", ("jsrt_", "jsrp_"), r"[A-Za-z0-9]{30,64}"),
    ("clojars-token", ("CLOJARS_",), r"[a-z0-9]{60}"),
    ("openshift-token", ("sha256~",), rf"{_WORD}{{43}}{_END}"),
    ("deno-token", ("ddp_", "ddw_"), r"[A-Za-z0-9]{36}"),
    ("vercel-token", ("vcp_", "vck_", "vca_"), r"[A-Za-z0-9]{24,80}"),
    ("docker-config", ("eyJhdXRocyI6",), r"[A-Za-z0-9+/]{20,8192}={0,2}"),
    ("docker-token", ("dckr_pat_", "dckr_oat_"), rf"{_WORD}{{20,64}}"),
    ("artifactory-key", ("AKCp",), r"[A-Za-z0-9]{60,80}"),
    ("buildkite-token", ("bkua_",), rf"{_HEX}{{40}}"),
    ("circleci-token", ("CCIPAT_", "CCIPRJ_"), r"[A-Za-z0-9_]{40,80}"),
    ("sonar-token", ("sqp_", "squ_", "sqa_"), rf"{_HEX}{{40}}"),
    ("pulumi-token", ("pul-",), rf"{_HEX}{{40}}"),
    ("postman-key", ("PMAK-",), rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    # Models.
    ("anthropic-key", ("sk-ant-",), rf"{_WORD}{{20,256}}"),
    ("openai-key", ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"), rf"{_WORD}{{20,256}}"),
    ("openrouter-key", ("sk-or-",), rf"{_WORD}{{40,100}}"),
    ("langfuse-key", ("sk-lf-",), rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    ("openai-key", ("sk-",), rf"[A-Za-z0-9]{{32,128}}{_END}"),
    ("huggingface-token", ("hf_", "api_org_"), rf"[A-Za-z0-9]{{30,64}}{_END}"),
    ("groq-key", ("gsk_",), r"[A-Za-z0-9]{40,80}"),
    ("xai-key", ("xai-",), r"[A-Za-z0-9]{60,100}"),
    ("perplexity-key", ("pplx-",), r"[A-Za-z0-9]{40,64}"),
    ("replicate-token", ("r8_",), rf"[A-Za-z0-9]{{37}}{_END}"),
    ("nvidia-key", ("nvapi-",), rf"{_WORD}{{50,100}}"),
    ("cerebras-key", ("csk-",), rf"[a-z0-9]{{40,64}}{_END}"),
    ("fireworks-key", ("fw_",), rf"[A-Za-z0-9]{{20,40}}{_END}"),
    ("jina-key", ("jina_",), r"[A-Za-z0-9_-]{50,80}"),
    ("e2b-key", ("e2b_",), rf"{_HEX}{{40}}"),
    ("aws-bedrock-key", ("ABSK", "bedrock-api-key-"), r"[A-Za-z0-9+/=]{80,600}"),
    ("pinecone-key", ("pcsk_",), r"[A-Za-z0-9_]{40,100}"),
    ("langsmith-key", ("lsv2_pt_", "lsv2_sk_"), r"[0-9a-f_]{32,64}"),
    ("tavily-key", ("tvly-",), r"[A-Za-z0-9-]{20,64}"),
    ("elevenlabs-key", ("sk_",), rf"{_HEX}{{48}}{_END}"),
    ("firecrawl-key", ("fc-",), rf"{_HEX}{{32}}{_END}"),
    # Messages and mail.
    (
        "slack-token",
        ("xoxa-", "xoxb-", "xoxc-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxe-"),
        r"[A-Za-z0-9-]{10,256}",
    ),
    ("slack-token", ("xapp-", "xwfp-", "xoxe.xoxb-", "xoxe.xoxp-"), r"[A-Za-z0-9-]{10,256}"),
    # A cookie: percent-encoded where it was copied from a browser.
    ("slack-token", ("xoxd-",), r"[A-Za-z0-9%+/=_-]{20,512}"),
    (
        "slack-webhook",
        ("hooks.slack.com/",),
        r"(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,128}",
    ),
    (
        "discord-webhook",
        ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
        r"\d{15,22}/[A-Za-z0-9_-]{50,80}",
    ),
    (
        "teams-webhook",
        ("webhook.office.com/webhookb2/", "outlook.office.com/webhook/"),
        r"[A-Za-z0-9@/_-]{40,256}",
    ),
    ("zapier-webhook", ("hooks.zapier.com/hooks/catch/",), r"\d{3,12}/[A-Za-z0-9]{5,12}/?"),
    ("ifttt-key", ("maker.ifttt.com/trigger/",), r"[\w-]{1,64}/(?:json/)?with/key/[\w-]{10,64}"),
    (
        "feishu-webhook",
        ("/open-apis/bot/v2/hook/",),
        rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}",
    ),
    ("wecom-webhook", ("qyapi.weixin.qq.com/cgi-bin/webhook/send?key=",), r"[0-9a-f-]{36}"),
    ("make-webhook", (".make.com/",), rf"[a-z0-9]{{30,40}}{_END}"),
    ("sendgrid-key", ("SG.",), r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    ("mailgun-key", ("key-",), rf"{_HEX}{{32}}{_END}"),
    ("brevo-key", ("xkeysib-",), rf"{_HEX}{{64}}-[A-Za-z0-9]{{16}}"),
    ("resend-key", ("re_",), rf"[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{20,32}}{_END}"),
    ("twilio-key", ("SK",), rf"{_HEX}{{32}}{_END}"),
    ("twitch-token", ("oauth:",), rf"[a-z0-9]{{30}}{_END}"),
    # Money and shops.
    ("stripe-key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), r"[A-Za-z0-9]{10,255}"),
    ("stripe-webhook-secret", ("whsec_",), r"[A-Za-z0-9+/=]{24,128}"),
    ("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"[A-Fa-f0-9]{32}"),
    ("square-token", ("sq0atp-", "sq0csp-"), rf"{_WORD}{{22,64}}"),
    ("square-token", ("EAAA",), rf"{_WORD}{{60}}{_END}"),
    ("facebook-token", ("EAA",), rf"[A-Za-z0-9]{{80,400}}{_END}"),
    ("braintree-token", ("access_token$production$",), rf"[a-z0-9]{{16}}\${_HEX}{{32}}"),
    (
        "plaid-token",
        ("access-sandbox-", "access-development-", "access-production-"),
        rf"{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}",
    ),
    # Vaults, monitoring, work.
    ("vault-token", ("hvs.", "hvb.", "hvr."), rf"{_WORD}{{24,512}}"),
    (
        "doppler-token",
        ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim."),
        r"[A-Za-z0-9._-]{40,100}",
    ),
    ("1password-token", ("ops_eyJ",), r"[A-Za-z0-9+/=_-]{100,4096}"),
    ("1password-secret-key", ("A3-",), r"[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5}"),
    ("age-key", ("AGE-SECRET-KEY-1",), r"[0-9A-Z]{50,64}"),
    ("grafana-token", ("glsa_", "glc_"), r"[A-Za-z0-9_+/=]{32,400}"),
    ("sentry-token", ("sntrys_", "sntryu_"), r"[A-Za-z0-9_+/=-]{40,512}"),
    ("newrelic-key", ("NRAK-", "NRII-"), r"[A-Za-z0-9_-]{20,40}"),
    ("dynatrace-token", ("dt0c01.",), r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("posthog-key", ("phx_",), r"[A-Za-z0-9]{32,64}"),
    ("sourcegraph-token", ("sgp_",), r"(?:[A-Za-z0-9]{16}_)?[0-9a-f]{40}"),
    ("prefect-key", ("pnu_",), r"[A-Za-z0-9]{36}"),
    ("typeform-token", ("tfp_",), r"[A-Za-z0-9_.-]{40,80}"),
    ("hubspot-token", ("pat-na1-", "pat-eu1-"), rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    ("mapbox-token", ("sk.eyJ",), r"[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{16,64}"),
    ("launchdarkly-key", ("sdk-",), rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    ("adafruit-key", ("aio_",), rf"[A-Za-z0-9]{{28}}{_END}"),
    ("easypost-key", ("EZAK", "EZTK"), rf"[A-Za-z0-9]{{54}}{_END}"),
    ("flutterwave-key", ("FLWSECK-", "FLWSECK_TEST-"), r"[A-Za-z0-9]{12,40}(?:-X)?"),
    ("shippo-token", ("shippo_live_", "shippo_test_"), rf"{_HEX}{{40}}"),
    ("duffel-token", ("duffel_live_", "duffel_test_"), rf"{_WORD}{{40,50}}"),
    ("octopus-key", ("API-",), rf"[A-Z0-9]{{26,40}}{_END}"),
    ("yandex-key", ("AQVN",), rf"[A-Za-z0-9_-]{{35,40}}{_END}"),
    ("linear-key", ("lin_api_", "lin_oauth_"), r"[A-Za-z0-9]{32,80}"),
    ("notion-token", ("ntn_",), r"[A-Za-z0-9]{40,64}"),
    ("notion-token", ("secret_",), rf"[A-Za-z0-9]{{43}}{_END}"),
    ("figma-token", ("figd_", "figu_"), rf"{_WORD}{{36,64}}"),
    ("atlassian-token", ("ATATT3", "ATCTT3"), r"[A-Za-z0-9_=-]{60,256}"),
    ("airtable-token", ("pat",), rf"[A-Za-z0-9]{{14}}\.{_HEX}{{64}}"),
    ("contentful-token", ("CFPAT-",), rf"{_WORD}{{40,64}}"),
    ("readme-key", ("rdme_",), r"[a-z0-9]{60,80}"),
    (
        "jwt",
        ("eyJ",),
        r"[A-Za-z0-9_-]{10,4096}\.eyJ[A-Za-z0-9_-]{10,8192}(?:\.[A-Za-z0-9_-]{0,2048})?",
    ),
    # An encrypted token has five parts, of which the second may be empty.
    (
        "jwt",
        ("eyJ",),
        r"[A-Za-z0-9_-]{10,4096}\.[A-Za-z0-9_-]{0,1024}(?:\.[A-Za-z0-9_-]{8,8192}){3}",
    ),
)

# Prefixes that ordinary words end in ("disk-", "are_", "monkey-"): behind a letter they begin a
# token only if what follows is plainly random.
_COMMON_TEXT = """
1//0 A3- API- EAA SK cio csk- fc- fw_ hf_ key- oauth: oy2 pat pul- r8_ re_ rnd_ sdk- sk- sk_ v1.0-
"""
COMMON = frozenset(_COMMON_TEXT.split())

# (kind, a needle that must be there, the whole shape): secrets whose own letters come later.
SHAPED: tuple[tuple[str, str, str], ...] = (
    ("telegram-token", ":AA", rf"(?<!%)(?<!%[0-9A-Fa-f])\d{{8,10}}:AA{_WORD}{{32,34}}{_END}"),
    (
        "discord-token",
        ".",
        rf"{_first('[MNO]')}[A-Za-z0-9_-]{{23,27}}\.[A-Za-z0-9_-]{{6}}\.{_WORD}{{27,40}}{_END}",
    ),
    (
        "azure-client-secret",
        "Q~",
        rf"{_first('[A-Za-z0-9_~.]')}[A-Za-z0-9_~.]{{2}}\dQ~[A-Za-z0-9_~.-]{{31,34}}{_END}",
    ),
    (
        "azure-key",
        "JQQJ99",
        rf"{_first('[A-Za-z0-9]')}[A-Za-z0-9]{{43,55}}JQQJ99[A-Za-z0-9]{{10,30}}{_END}",
    ),
    (
        "azure-devops-token",
        "AZDO",
        rf"{_first('[A-Za-z0-9]')}[A-Za-z0-9]{{75}}AZDO[A-Za-z0-9]{{4}}{_END}",
    ),
    (
        "terraform-token",
        ".atlasv1.",
        rf"{_first('[A-Za-z0-9]')}[A-Za-z0-9]{{13}}\.atlasv1\.[A-Za-z0-9_=-]{{60,80}}",
    ),
    ("mailchimp-key", "-us", rf"{_first(_HEX)}{_HEX}{{31}}-us\d{{1,2}}{_END}"),
    ("asana-token", "/", rf"{_first('[0-9]')}/\d{{16}}(?:/\d{{16}})?:{_HEX}{{32}}{_END}"),
    # Images in base64 have long runs of A, too: there a slash or a plus is near.
    (
        "twitter-token",
        "AAAAAAAAAAAAAAAAAAAAA",
        r"(?<![A-Za-z0-9+/])A{21}[A-Za-z0-9%]{60,100}(?![A-Za-z0-9+/=])",
    ),
)

# The shortest secret of the two tables is longer than this: shorter words are not even looked at.
SHORTEST = 16

_RULES = [(kind, prefix, rest) for kind, prefixes, rest in PREFIXED for prefix in prefixes]
# What ends in a letter, digit or dash and still is no part of a word: a colour of the terminal, a
# percent-encoded quote, an escape of JSON, an entity of HTML.
_EDGE = re.compile(
    r"(?:(?:\x1b|\\x1b|\\e|\\033|\\u001b)?\[[0-9;:]{0,16}[A-Za-z]"
    r"|%[0-9A-Fa-f]{2}|\\[nrtbfv0]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|&#?\w{2,6};)\Z"
)
_LONGEST_EDGE = 28
_WORD_LETTER = re.compile("[A-Za-z0-9_-]")
_ANYWHERE = re.compile("")
_LONGEST_CLUE = 512  # longer than any prefix and any shape that has none
# So many letters of base64 in a row are an image or a digest, and so is what goes on from there.
_BLOB = re.compile(r"[A-Za-z0-9+/]{24}\Z")


def find(text: str) -> Iterator[Span]:
    """Every token that has a well-known shape."""
    prefixes: dict[str, None] = {}
    shapes: set[str] = set()
    for long_words in _long_words(text):
        prefixes |= dict.fromkeys([match[0] for match in _any_prefix().finditer(long_words)])
        shapes |= {
            shape
            for _, needle, shape in SHAPED
            if needle in long_words and _compiled(shape).search(long_words)
        }
    # In their order, so that of two kinds that overlap always the same one is named.
    for seen in prefixes:
        for kind, prefix, expression in _rules_for(seen):
            for match in matches(expression, text):
                body = match[0][len(prefix) :]
                if not filler(body) and _may_begin(text, match.start(), prefix, body):
                    yield *match.span(), kind
    for kind, _, shape in SHAPED:
        if shape in shapes:
            for match in matches(_compiled(shape), text):
                yield *match.span(), kind


def _long_words(text: str) -> Iterator[str]:
    """The long words of each piece: only these can hold one, and they are few.

    What is cut by the end of a piece is whole in the next one.
    """
    for start, end in bounds(text, _ANYWHERE):
        words = text[max(0, start - _LONGEST_CLUE) : end].split()
        if long := [word for word in words if len(word) >= SHORTEST]:
            yield " ".join(long)


def _may_begin(text: str, start: int, prefix: str, body: str) -> bool:
    """Whether a token may begin here: apart from any word, or else too odd to be a part of it."""
    if _is_apart(text, start):
        return prefix not in COMMON or not (body.isalpha() and body.islower())
    if prefix in COMMON:
        return not prefix.isalnum() and random_letters(body)
    return not (prefix.isalnum() and _BLOB.search(text, max(0, start - 24), start))


def _is_apart(text: str, start: int) -> bool:
    if start == 0 or not _WORD_LETTER.match(text, start - 1):
        return True
    return _EDGE.search(text, max(0, start - _LONGEST_EDGE), start) is not None


@cache
def _rules_for(seen: str) -> list[tuple[str, str, re.Pattern[str]]]:
    """(kind, prefix, expression) of the tokens that may begin with `seen`, the most special first."""
    return [
        (kind, prefix, re.compile(re.escape(prefix) + rest))
        for kind, prefix, rest in sorted(_RULES, key=lambda rule: -len(rule[1]))
        if seen.startswith(prefix)
    ]


@cache
def _any_prefix() -> re.Pattern[str]:
    return re.compile(tree({prefix for _, prefix, _ in _RULES}))


@cache
def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile(shape)
