"""Sentences of the kind that people and agents say: some to calibrate with, others to check with.

They only have to stir the encoder's channels; none of them is looked for later.
"""

CALIBRATE: tuple[str, ...] = (
    "Which port does the staging database listen on, and who may connect to it?",
    "We moved the login form to React last week because the old template leaked state.",
    "I prefer tabs over spaces, always use semantic HTML, and never commit generated files.",
    "ModuleNotFoundError: No module named 'requests' when running pytest inside the container",
    "git rebase --onto main feature/old feature/new fails with a conflict in src/app/server.py",
    "My sister Anna is coming to visit on the 14th of March; book a table for six at eight.",
    "def fetch(url: str, *, timeout: float = 3.0) -> bytes: return session.get(url).content",
    "The doctor said that I should drink more water and sleep at least seven hours a night.",
    "SELECT name, count(*) FROM orders WHERE created_at > '2024-01-01' GROUP BY name;",
    "yes",
    "continue",
    "Thanks, that worked! Now do the same for the other three endpoints, please.",
    "He adopted a puppy named Biscuit from the shelter downtown and she is allergic to cats.",
    "The build takes eleven minutes; caching node_modules brings it down to under four.",
    "What did you suggest for the kitchen renovation when we talked about it last summer?",
    "Paris, Tokyo, São Paulo, Zürich, Kraków, Malmö: the conference moves every year.",
    "TypeError: cannot read properties of undefined (reading 'map') at Dashboard.tsx:118:24",
    "Revenue grew by 12.5 % to $3.4 million, although costs rose faster than we had planned.",
    "kubectl rollout restart deployment/api -n production && kubectl get pods --watch",
    "I'm feeling a bit overwhelmed lately, so a long hike in the mountains sounds great.",
    "The contract between the bridge and the daemon is one JSON value per line, UTF-8.",
    "Ich habe gestern den Fehler im Parser gefunden, er lag an der Zeitzone.",
    "No me gusta el café con leche, prefiero un té verde sin azúcar por la mañana.",
    "https://example.org/docs/api/v2/users?page=3&sort=desc#section-authentication",
    "We decided against Kafka: one Postgres table with SKIP LOCKED is enough for our load.",
    "0x7fffdeadbeef  a3f5c9e1-4b2d-4c7e-9f10-d2b6a1c8e7f4  192.168.0.17:8443  v1.14.2-rc.3",
    "The novel begins in a lighthouse, where a retired captain teaches a child to read stars.",
    "Remind me to renew the TLS certificate before the end of the month, it expires on 30 June.",
    "class OrderService implements Repository<Order> { private final Clock clock; }",
    "She plays the violin in a string quartet and practises every evening after dinner.",
    "The migration adds a nullable column first, backfills it, and only then sets NOT NULL.",
    "chmod 600 ~/.ssh/id_ed25519 fixed the permission error, thank you for the quick answer.",
    "Could you summarise the main arguments for and against a four-day working week?",
    "The recipe needs 200 g of flour, three eggs, a pinch of salt and half a litre of milk.",
    "Actually, forget what I said about the blue theme: we are going with the dark one.",
    "Our flight leaves at 06:45 from gate B12, so we have to get up at three in the morning.",
    "!!! ??? ... --- *** ### ((( ))) <<< >>> &&& ||| === +++",
    "日本語のテキストも時々混ざります。 Привет, как дела? مرحبا بالعالم",
    "The cache key has to include the user's locale, otherwise Germans see English prices. "
    "We found out when a customer sent us a screenshot, and it took two days to reproduce, "
    "because the proxy in front of the test system strips the Accept-Language header. "
    "Since then every response carries Vary: Accept-Language and the test asserts on it.",
    "First we read the configuration, then open the store, then bind the socket; if any of "
    "these fails the process ends with a sentence that says what to do, and nothing that was "
    "written before is touched. A second start finds the lock held, names the process that "
    "holds it, and exits. I like that order because a half-started daemon is worse than none.",
)

CHECK: tuple[str, ...] = (
    "How do I connect to the replica from my laptop?",
    "The frontend was rewritten in Svelte after the second performance review.",
    "Please never use emojis in commit messages and keep the subject under fifty characters.",
    "psycopg.OperationalError: connection to server at 127.0.0.1, port 5433 failed",
    "Her brother moved to Lisbon in October and works for a shipping company now.",
    "ok, go on",
    "for (const item of items) { await queue.push(item, { retries: 3 }); }",
    "I went to the dentist on Tuesday; the filling has to be replaced next month.",
    "What was the name of the Italian restaurant that you recommended for our anniversary?",
    "Use exponential backoff with jitter and stop after five attempts.",
    "The marathon training plan starts with three short runs a week.",
    "docker compose up -d --build web worker scheduler",
    "Both of us liked the first apartment better, although the kitchen was tiny.",
    "A deadlock: thread A holds the index lock and waits for the writer, which waits for A.",
    "Can you remind me which vitamin the nurse told me to take in winter?",
    "The quarterly report is due on Friday, and the figures for Asia are still missing.",
    "Rust's borrow checker rejects this because the closure outlives the reference.",
    "They sell hand-made pottery on the market every second Saturday.",
    "The endpoint returns 429 with a Retry-After header when the bucket is empty.",
    "My favourite film as a child was the one with the talking owl and the broken clock.",
    "We agreed to release on Thursdays only, never before a holiday, and to roll back at the "
    "first alarm instead of debugging in production, whatever the pressure from outside is.",
    "The old server will be switched off at the end of the year. Until then both run side by "
    "side, and every write goes to both; reads come from the new one unless it is behind.",
)

# For encoders of more than English: every second one to calibrate with, the others to check with.
LANGUAGES: tuple[str, ...] = (
    "Die Schnittstelle antwortet seit dem letzten Update mit einem Zeitfehler.",
    "Am Samstag holen wir die neuen Fahrräder beim Händler in der Altstadt ab.",
    "Le fichier de configuration est lu une seule fois, au démarrage du service.",
    "Ma sœur a trouvé un appartement lumineux près de la gare de Lyon.",
    "El contenedor se reinicia cada vez que falta la variable de entorno.",
    "Mañana vamos a cenar con los abuelos después del partido.",
    "Миграция добавляет новый столбец и заполняет его в фоновом режиме.",
    "Вчера мы долго гуляли по набережной и ели мороженое.",
    "يجب تجديد شهادة الخادم قبل نهاية الشهر القادم.",
    "اشترت أمي كتابين عن تاريخ المدينة القديمة.",
    "请在合并之前运行全部测试，并检查日志里的警告。",
    "周末我们打算去山里看红叶，顺便拜访老朋友。",
    "設定を変更したら、必ずサービスを再起動してください。",
    "弟は去年から大阪の病院で看護師として働いています。",
    "Il server di prova non risponde più sulla porta 8443. Sunucu yeniden başlatıldı.",
    "서버 로그는 매일 밤 압축됩니다. De kinderen spelen in de tuin. Jutro jest święto.",
)
