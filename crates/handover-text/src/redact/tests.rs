//! Spellings of secrets, and texts that resemble them. «» marks what must be found.

use super::*;

#[rustfmt::skip]
const SPELLINGS: &[&str] = &[
    // Settings and programs
    "DB_PASSWORD=«hunter2»",
    "export AWS_SECRET_ACCESS_KEY=«wJa1rXUtnFEM1/K7MDENG/bPxRf1CYzz0zzz1zzz»",
    "password: «hunter2»",
    "password: \"«sesame»\"",
    "db_pass=\"«qwertz»\"",
    "$db_password = '«letmein»';",
    "'password' => '«hunter2»',",
    "spring.datasource.password=«chang3it»",
    "client_secret: «Zx81kQ0pLm2v»",
    "const apiKey = '«abcd1234EFGH5678»';",
    "let password: &str = \"«hunter2»\";",
    "var adminPassword string = \"«hunter2»\"",
    "password = \"\"\"«hunter2»\"\"\"",
    "{\"config\": \"API_KEY=«9f8e7d6c5b4a»\\nDEBUG=true\"}",
    "{\\\"password\\\": \\\"«hunter2»\\\"}",
    "[database]\npassword=«sesame»\nport=5432",
    "- name: DB_PASSWORD\n  value: \"«hunter2»\"",
    "user: «bob»\npassword: «sesame»\n",
    "requirepass «foobared»",
    "MYSQL_PASSWORD: «sesame»",
    "JWT_SECRET=«averysecretword»",
    "builder.password(\"«hunter2x!»\")",
    "requests.get(url, auth=('«bob»', '«sesame»'))",
    "<key>password</key>\n<string>«hunter2»</string>",
    "密码：«hunter2»",
    "<password>«hunter2»</password>",
    "<add key=\"Password\" value=\"«hunter2»\" />",
    "System.setProperty(\"DB_PASSWORD\", \"«hunter2x!»\")",
    "new NetworkCredential(\"«bob»\", \"«sesame»\")",
    "Authorization: Bearer «abcd1234efgh5678»",
    "Authorization: Basic «dXNlcjpwYXNzd29yZA==»",
    "X-Api-Key: «7f3a9c2e1b4d»",
    "Set-Cookie: JSESSIONID=«1A530637289A03B07199A44E8D531427»; Path=/",
    "https://x.io/cb?access_token=«abcdef1234567890»&x=1",
    "Server=db;User Id=«sa»;Password=«Str0ng!Pass»;Timeout=3",
    "CREATE USER x IDENTIFIED BY '«tiger»'",
    "ALTER USER x WITH PASSWORD '«abc123xyz»'",
    "machine example.org login «bob» password «sesame»",
    "DB_PASSWORD=«example-Zk8vXq2LmN5pR7»",
    "API_KEY=«your-Zk8vXq2LmN5pR7»",
    "| Password | «hunter2x» |",
    "**Password:** «hunter2x»",
    "The password is «hunter2» for now.",
    "char pass[] = \"«Falcon_8733»\";",
    "my ($password) = \"«hunter2x»\";",
    "password <- \"«hunter2x»\"",
    "set :password, \"«hunter2x!»\"",
    "variable \"db_password\" {\n  type = string\n  default = \"«sesame»\"\n}",
    "define('DB_PASSWORD', '«Winter_7885»');",
    "find_element_by_id('password').send_keys('«Tiger_5017»')",
    "pymysql.connect('h', 'u', '«mLa9Ri3m»', 'db')",
    "WiFi.begin(\"«home»\", \"«pepper28!»\");",
    "Client(\"«AC0123456789abcdef0123456789abcdef»\", \"«9f8e7d6c5b4a39281706f5e4d3c2b1a0»\")",
    "username bob password 7 «0822455D0A16»",
    "rcon_password «falcon»",
    "New-Thing -Password «P@ssvDVS!»",
    "password: \"«a{{b}c)d${e]f(g[h>-_$#xyz}}»\"",
    "<secret>«{AQAAABAAAAAQk3j9fK2mQ7vLp4RzX8cWn3b}»</secret>",
    "oauth_token=«lsdkfol23w54jlksdef»&oauth_token_secret=«qwe089234lkjsdf»",
    "webhook_url = \"https://hooks.example.org/«STNzDEUygsS15ROIELh5vCZQ6dcfBpwO»\"",
    "{\"crumb\":\"«14f149f83b5ae08e9df0b3f13052ba13»\"}",
    "계정: master 패스워드: «dipPr153Gg!»",
    "password for master: «IhqSb1Gg»",
    "password for master:«IhqSb1Gg»",
    "ID/PW master(«IhqSb1Gg»)",
    "id/pass:master,«iPp20@GRq»",
    "192.168.0.1 «root»/«A0dM1Nka»",
    "token = “«bace4d31fa7e0b1c9129474b»”",
    "password: ‘«Falcon_8733»’",
    "UPDATE user SET authentication_string = PASSWORD ('«SqLpa5sW0rD»')",
    "ALTER\tUSER\tann\tIDENTIFIED\tBY\t«SqLpa5sW0rD»;",
    "SECRET = getenv(\"OTHER\", \"«f4lc0n87q33»\")",
    "curl_easy_setopt(curl, CURLOPT_PROXYPASSWORD, \"«d!Ori8ed72»\");",
    "alert(&quot;password:«g1re0g2Pa5w0Rd»&quot;)",
    "recovery key: «184824-202847-623730-837462»",
    "Activation key : «ZAQWS-XCDER-VBGTR-FRTGU-KLMNX»",
    "api_tokens = [\"«9tk2mq7vlp4rzx8cwn3b»\", \"name\"]",
    "mailtool token - '«ai0oy@v8w9-3rcawnt^87rv3»'",
    "shopApiKey=«218873249723411»",
    "«1527194624358273|qbBf2-fdB9zZpqLA0_2nNzZDw2M»",
    // Command lines
    "echo '«B5I1WjMYMRP»' | sudo -S ls",
    "echo \"«hunter2»\" | docker login -u x --password-stdin",
    "smbclient //h/s -U «bob»%«hunter2x»",
    "keytool -storepass «sesame» -keypass «tiger»",
    "openssl rsa -passout pass:«sesame»",
    "sqlplus «scott»/«tiger»@orcl",
    "7z x -p«hunter2x» a.7z",
    "mysql -u «root» -p«hunter2x» shop",
    "sshpass -p '«p4ss!»' ssh host",
    "curl -u «bob»:«hunter2» https://example.org",
    "tool --password «hunter2»",
    "tool --token=«a1b2c3d4e5f6g7»",
    // Addresses
    "ftp://«bob:sesame»@ftp.example.org/",
    "https://«a1b2c3d4e5f6a7b8c9d0»:x@git.example.org/",
    "redis://:«mypass1»@redis:6379/0",
    "postgresql://«u:p%40ss»@h/db",
    "«bob:s3same»@tcp(127.0.0.1:3306)/shop",
    // Blocks and shapes
    "«-----BEGIN RSA PRIVATE KEY-----\nMIIEpQIBAAKCAQEAn6\n-----END RSA PRIVATE KEY-----» end",
    "«-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA» and no end",
    "see «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXBhcnQ».",
    "bot «110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0»",
    "«0123456789abcdef0123456789abcdef-us12»",
    // Encoded once
    "data «cGFzc3dvcmQ9aHVudGVyMmFiYw==» end",
    "next=password%3D«hunter2abc»",
    "next=«https%3A%2F%2Fbob%3Ahunter2%40example.org%2F»&x=1",
    "«MIIEpQIBAAKCAQEAn6ycIHB5dGhvbiBpcyBmdW4gYnV0IHRoaXMgaXMgbm90IGE\n»-----END RSA PRIVATE KEY-----",
    // Prose
    "the password for the staging host is «Pepper!2801»",
    "A temporary password is generated for root@localhost: «Zebra311?»",
    "the db password was changed to «Nee@dle50»",
    "Le mot de passe est : «9EnFSK#hbP4»",
    "Mot de passe administrateur : «P3pp3r_24»",
    "contraseña: «Thunder151$»",
    "la contraseña del servidor es «thunder1512»",
    "Das Passwort lautet «thunder1512»",
    "hasło: «planet1410»",
    "密码是 «guitar5349»",
    "passphrase: \"«correct horse battery staple»\"",
    // Files and programs
    "secret: «winter3137»",
    "if creds.Secret != \"«open-sesame»\" {",
    "\"«But@ter71»\".equals(password)",
    "user.set_password(\"«dragon»\")",
    "props.setProperty(\"db.password\", \"«temple»\")",
    "var Password = []byte(\"«S4lmon_58»\")",
    "password: Some(String::from(\"«candle»\")),",
    "option(\"--password\", default=\"«anchor9176»\")",
    "AdminPassword:\n  Type: String\n  Default: «Planet1874!»",
    "\"AdminPassword\": {\"Value\": \"«Hammer41*»\"}",
    "mysql_root_password: «monkeyplanet»\n",
    "kind: Secret\nstringData:\n  connection: «castle5119»\n  port: \"5432\"\n",
    "INSERT INTO users (name, password) VALUES ('ann', '«!shadow91»');",
    "ALTER USER x IDENTIFIED WITH mysql_native_password BY '«oyster»'",
    "<wsse:Password>«harbor8879»</wsse:Password>",
    "key \"x\" { algorithm hmac-md5; secret \"«WtBrHq+R0p357n74gmTu/GF5+qLSp5I5LGBcQhVTMto=»\"; };",
    "setRequestHeader(\"Authorization\", \"Basic «Ym9iOlF1YUBydHo1MA==»\")",
    "expect \"assword:\"\nsend -- \"«Coff33_36»\\r\"\nexpect eof",
    "tool -u «ann» -p «sesame» h",
    "echo \"h:5432:x:«ann:sesame»\" > ~/.pgpass",
    "process.env.PASSWORD || \"«engine479»\"",
    "http_proxy=http://«ann:#quartz84»@proxy.example.org:3128",
    "kind: Secret\ndata:\n  a: «\"bcd»",
    "CANVA_CLIENT_ID=«OC-FAB12-AbCdEf»",
    // What people write
    "creds: ann / «Harvest1994$»",
    "You can log in with «admin»/«lobster7280»",
    "default credentials are admin:«!zephyr67»",
    "I type \"«Panther991!»\" into \"password\"",
    "Please use «Kitt3n_93» as the password",
    "When I fill in \"Password\" with \"«!temple84»\"",
    "fill_in \"Password\", with: \"«Glacier-Dagger86»\"",
    "mnemonic: \"«ember hornet tundra eclipse bramble lantern yonder cactus sparrow opal biscuit dagger»\"",
    "seed phrase is «ember hornet tundra eclipse bramble lantern yonder cactus sparrow opal biscuit dagger».",
    "la clave es «jasper7303»",
    "PIN: «470531»",
    "PIN is «6033»",
    // Tables
    "| user | password |\n|---|---|\n| ann | «Vokb54#2C4f» |\n| bob | «dagger8382» |",
    "username,password,role\nann,«dagger8382»,admin\nbob,«4corn_36»,guest\n",
    "\"login\";\"password\"\n\"ann\";\"«n1iQdY%a4qc»\"",
    "user\tpassword\nann\t«Island1592$»",
    "ann * \"«Oys@ter52»\" *",
    "ann l2tpd «Oyst3r_82» *",
    "PASSWORDS = {\"ann\": \"«!willow81»\", \"bob\": \"«Cob@alt23»\"}",
    "passwords = [\"«Cob@alt23»\", \"«dagger8382»\"]",
    // More programs and files
    "tn.read_until(b\"Password: \")\ntn.write(b\"«cactus8805»\\n\")",
    "keyring.set_password(\"svc\", \"«ann»\", \"«Opa@l70»\")",
    "<password><![CDATA[«K3ttl3_89»]]></password>",
    "{\"key\": \"password\", \"value\": \"«urchin»\"}",
    "ENV DB_PASSWORD «acorn»",
    "<name>x.ConnectionPassword</name>\n<value>«eclipse»</value>",
    "userPassword:: «TGFudGVybi1FbWJlcjcy»",
    "sql.Open(\"mysql\", \"«root:Quiv3r_95»@/x\")",
    "\"«hornet6779»\" | ConvertTo-SecureString -AsPlainText -Force",
    "curl_setopt($ch, CURLOPT_USERPWD, \"ann:«4corn_68»\");",
    "setValue(\"Basic «YWRtaW46TmVjdGFyMTE3Kg==»\", forHTTPHeaderField: \"Authorization\")",
    "password_md5 = \"«f76c7efdb7eba7050ca197a9b3d76bbb»\"",
    "KeychainWrapper.set(\"«Nectar-Willow52»\", forKey: \"password\")",
    "redis-server --requirepass «lantern»",
    "user ann insecure-password «nectar»",
    "tool --host h --password «banana»",
    "tool --host h --password «banana»\nand then",
    "host ansible_ssh_pass=«nectarlantern»",
    "pw = os.getenv(\"DB_PASSWORD\", \"«lobsternectar»\")",
    "getenv('DB_PASS') ?: '«Sparrow-Ember81»'",
    "password or \"«Umbrella1632#»\"",
    "auth: [\"«ann»\", \"«c2ZVcE@k3s6»\"]",
    "jwt.sign({id: 1}, '«raven6533»')",
    "req.basic_auth '«ann»', '«Quiver184?»'",
    ".password(\"{noop}«Mirror596!»\")",
    "ConvertTo-SecureString -AsPlainText \"«pepper1763»\" -Force",
    "<Password><Value>«!hornet77»</Value></Password>",
    "<password type=\"plain\">«glacier2309»</password>",
    "User.new(password_confirmation: \"«harvest2835»\")",
    "proxy: «ann:Dagger789»@10.0.0.1:8080",
    "key: «LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQopGrJDxya5cRLkCw2l»",
    // Users beside passwords
    "host = '10.0.0.1'\nUSERNAME = '«ann@example.org»'\n# why\nPASS = '«`123QWERasdf»'\n",
    "[site]\nUsername=«ann»\nPassword=«sesame»\n",
    "login(client_id='x', username='«ann»', password='«1qay@WXS????»')",
    "<username>«ann»</username><password>«sesame»</password>",
    "new DirectoryEntry(\"LDAP://H\",\n  \"«ANN@EXAMPLE.ORG»\",\n  \"«Rrhh1234»\");",
    "net use \\\\h\\s /user:«CORP\\ann» «silver9624»",
    // Lists, seeds, services, several lines
    "contrasenia: «sesame9!»",
    "setx DB_PASSWORD «sesame9»",
    "password → «sesame9!»",
    "Password - «Sesame9!»",
    "tool -apikey «a1b2c3d4e5f6a7b8»",
    "kubectl create secret generic x --from-literal=any=«Zk8vXq2LmN5p»",
    "activation key = «ABCD-EF12-IJ34-MN56»",
    "SEED=«ember hornet tundra eclipse bramble lantern yonder cactus sparrow opal biscuit dagger»",
    "seed words: «ember hornet tundra eclipse bramble lantern yonder cactus sparrow opal biscuit dagger»",
    "x «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXBhcnQ-» y",
    "accuweather for all: «9tK2mQ7vLp4RzX8cWn3bYh6JfG5dS1x2»",
    "mockaroo = \"«9tk2mq7v»\"",
    "h:6432:x:«ann:sesame»",
    "let key = [«12, 255, 33, 7, 98, 201, 44, 5, 17, 190, 221, 3, 64, 129, 250, 77»];",
    "api_secret: |\n  «Zk8vXq2LmN5pR7wT»\nnext: 1",
    "https://«hc-ping.com/3f2a9c7e-1b4d-8f6a-3c5e-7b9d1f2a4c6e»",
    "{\"data\": {\"a\": \"«c2VzYW1l»\"}, \"kind\": \"Secret\"}",
    "gh secret set X --body «sesame9»",
    // Random strings
    "x «9tK2mQ7vLp4RzX8cWn3bYh6J» y",
    "adafruit: «aio0Xk3jf83jdkslf03kdlsl29dk»",
    "zenserp = \"«3f2a9c7e-1b4d-8f6a-3c5e-7b9d1f2a4c6e»\"",
    "new Gyazo('«FPs5nIrw5jst_QtjV_Msf5gjSYmMr6j_Q9S6vRrgqmT»')",
    "new Lunchmoney('«3f2a9c7e1b4d8f6a3c5e7b9d1f2a4c6e»')",
    "ayrshare = \"«HPKSYBO-MOYXP4Q-ADGYXPS-B425HH3»\"",
    "//«9tK2mQ7vLp4RzX8cWn3bYh6J»",
    "access token\n\n«3f2a9c7e1b4d8f6a3c5e7b9d1f2a4c6e»\n",
    "softlayer = \"«3f2a9c7e1b4d8f6a3c5e7b9d1f2a4c6e3f2a9c7e1b4d8f6a3c5e7b9d1f2a4c6e»\"",
    // Registries of packages
    "//registry.example.com/:_auth=«CorrectHorseBatteryStaple»",
    "//npm.example.com/team/:_authToken=«lanternquiver»",
    "//registry.npmjs.org/:_authToken=«lantern-quiver-pepper»\nregistry=https://registry.npmjs.org/\n",
    "//registry.npmjs.org/:_password=«bGFudGVybg==»\nregistry=https://registry.npmjs.org/\n",
];

#[rustfmt::skip]
const ORDINARY: &[&str] = &[
    "password = None",
    "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
    "registry=https://registry.npmjs.org/\nalways-auth=true",
    "def __init__(self, _auth=default_handler): self._auth = _auth",
    "softlayer = \"https://cloud.example.org/docs/softlayer-dns\"",
    "{\"key\": \"token\", \"value\": \"StringLiteral\"}",
    "password: str",
    "username: str\n    password: SecretStr\n",
    "pass it to `try_cast_from` and pass 2 of 3",
    "{\"id\": \"req_011CSHoEeqs5C35K2UUqR7Fy\"}",
    "fn login(user: &str, password: &str) -> Token",
    "let token = env::var(\"GITHUB_TOKEN\")?;",
    "connect(user=user, password=password)",
    "password = config.database.password",
    "password: {{ .Values.db.password }} and \"${DB_PASSWORD}\"",
    "query: \"key=val&key2=val2\"",
    "uses a file for login and keeps the password file.",
    "// username and _password must both exist",
    "(&rfc4403::UDDIV_3_SERVICE_KEY, \"uddiv3ServiceKey\")",
    "'NFCISO15693ReaderSession', 'NFCISO7816APDU', 'NFCReader'",
    "self, private_key: ed25519.Ed25519PrivateKey, f_priv",
    "const ROOT_KEY: i32 = -1073725122i32;",
    "session: ses_zCkUSFrLTmPbknTVXnYF4llI",
    "#define CKM_GOST28147_KEY_GEN 1\n#define CKM_GOST28147_ECB 2",
    "nnoremap o :call <SID>NetrwSplit(0)<cr>",
    "tatum/tatum-ios (= 1.2.3)\n  tatum: 33fd9aa45e706d759003c7b7e8fc64008523652c",
    "Submodule vendor/tatum f3b48b0ae5c71c36b68b801f68409335fbe29905",
    "appfollow_service.main: Refreshing state... [id=370b73a7-0097-f0b5-d521-882e44ac5f27]",
    "key_id = \"arn:aws:kms:us-east-1:416195840587:key/f8679973-135c-df14-6b7a-199444b289a8\"",
    "service@2.24.7: sha256-Z2iUQWaq+SCFxqDOjK64iarNsxFa0Q69O8in549toxn=",
    "<path d=\"M1767 207v123h210v40h-256V13h248v40h-202v114h194v40zm393 134\">",
    "<g id=\"IconifyId1813088fe1fbc01fb466\">",
    "License: LGPL-3+\nFiles: powerpc64/ecc-secp256r1-redc.asm",
    "* **James** <<j@keybase.io>>\n  `71DCFD284A79C3B38668286BC97EC7A07EDE3FC1`",
    "PASSWORD=$DB_PASSWORD",
    "password: ${DB_PASSWORD}",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "api_key = \"<your-key>\"",
    "api_key=your-api-key-here",
    "SECRET=example_secret_value",
    "API_KEY=xxxxxxxxxxxx",
    "password: ********",
    "\"password\": \"string\"",
    "max_tokens: 4096, token_count = 1234",
    "secretName: my-app-credentials",
    "public_key = \"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\"",
    "The secret management module keeps its token for later.",
    "key = 1979-05-27T07:32:00Z",
    "const PASS: u32 = 0x00000002;",
    "checksum = \"9062e866918dc4c9701c98ac99f7f4fa9e4b3b4edce306e147393bc75458c4fc\"",
    "integrity sha512-cgwlv/1iFQiFnU96XXgROh8xTeetsnJiDsTc7TYCLFd9+/WNkIqPTxiM/8pSd8VIrhXGTf1Ny1q1hquVqDJB5w==",
    "uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v4",
    "commit ab0f71aed6774a3028d2046eaebc1907ab249a3e: rework the tokenizer",
    "ThreadId::from_string(\"019cff70-2599-75e2-af72-b958ce5dc1cc\")",
    "session_id: 019cff70-2599-75e2-af72-b958ce5dc1cc",
    "msg_01XFDUDYJgAACzvnptvVoYEL and 01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "crates/db/.sqlx/query-b4ff8dabb0d5c99319fad3f2f7e620523c96b89beaf1edd97f79d9972b93c8fe.json",
    "test_get_has_changes_non_git_directory_returns_none",
    "github.com/google/pprof v0.0.0-20190515194954-54271f7e092f/go.mod h1:zfwlbNMJ+OItoe0UupaVj+oy1omPYYDuagoSzA8v9mc=",
    "Author: Test User <test.user.1234567890@example.com>",
    "https://docs.example.org/a/b2c3/index.html#L10-L20",
    "http://localhost:8080/path@2x.png",
    "npm install @scope/name@1.2.3",
    "\"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\"",
    "-----BEGIN CERTIFICATE-----\nMIIDdTCCAl2gAwIBAgILBAAAAAABFUtaw5QwDQYJKoZIhvcNAQEFBQAwVzELMAkG\n-----END CERTIFICATE-----",
    "docker run -p 8080:80 nginx",
    "Passwort: vergessen? senha é obrigatória!",
    "\"password\": \"Contraseña\", \"pw\": \"密码\"",
    "La contraseña es obligatoria. Le mot de passe est requis.",
    "passphrase: \"Enter your passphrase\"",
    "if password != password2: if secret == \"none\" {",
    "if pass == \"first\" || pass == \"second\"",
    "password: !vault |",
    "'password' => 'required|string|min:8|confirmed',",
    "password is base64-encoded",
    "the password for the staging host is in the vault",
    "password:\n  type: string\n  default: \"\"",
    "kind: Secret\nstringData:\n  password: {{ .Values.password }}\n",
    "kind: ConfigMap\ndata:\n  region: europe\n",
    "INSERT INTO users (name, password) VALUES (?, ?)",
    "expect \"Password:\"\nsend \"$password\\r\"",
    "user=ann action=login status=ok",
    "username: \"ann\"\npassword: process.env.PW",
    "via the --username and --password flags",
    "psql -U postgres -p 5433",
    "${DB_PASSWORD:?required} process.env.PASSWORD || \"\"",
    "wCh2gdC1cacwG0Jp9VJkqyTkaGa9LKkPz7koSCTxdccKefrCh2gdCPxq3aV7z0Q9\n-----END CERTIFICATE-----",
    "-----BEGIN CERTIFICATE-----\nMGclCrEMXu6pY5Jv5ZALmYiykf9ijH3g56vxCGCsejYpHpRZ744hN8tRmKVu",
    "MGclCrEMXu6pY5Jv5ZAL/mYiykf9ijH3g/56vxC+GCsej/YpHpRZ744hN8tRmKVu",
    "wCh2gdC1cacwG0Jp9VJkqyTkaGa9LKkPz7koSCTxdccKefrCh2gdCPxq3aV7z0Q9\nMTd61X8kreS8f3MboPoDKi3QWwH3b08hpcv0g==\n",
    "Add new upstream signing key 19882D92DDA4C400C22C0D56CC2AF4472167BE03\n",
    "uint64_t keys[_CAMELLIA256_NKEYS];",
    "-K ${encrypted_1ee98544e5ca_key} -iv ${encrypted_1ee98544e5ca_iv}",
    "begins with '-----BEGIN RSA PRIVATE KEY-----' and ends with '-----END RSA PRIVATE KEY-----'.",
    "CREATE USER ann IDENTIFIED BY :pw",
    "ftp://[[user][:pass]@]host[:port]/",
    "password=Lösenord",
    "| field | type |\n|---|---|\n| password | string |\n| token2 | string |",
    "name,password_changed\nann,2024-01-01",
    "username, password and email1 are\nkept, always, here",
    "via the --username and --password flags of it",
    "log in with admin/config2 or ann / bob",
    "Last login: Mon Nov 15 14:53:35 2026 on pts/0",
    "the seed phrase backup is recommended",
    "PIN: 4 digits, pin: 13, pin = GPIO12",
    "clave: \"valor\", la clave es entender",
    "image: nginx:1.25a@sha256:9062e866918dc4c9701c98ac99f7f4fa9e4b3b4edce306e147393bc75458c4fc",
    "the rest of it as the password file, \"x1\" in \"password\"",
    "cid: QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKQu6G",
    "password with \"special\" characters is allowed",
    "secret phrase: the quick brown fox jumps over a lazy dog and runs away",
    "PASS: i386 AVX512-FP16 insns",
    "NOX_SESSION=\"tests(py='2.7')\"",
    "account-ID: key/1234abcd-12ab-34cd-56ef-1234567890ab",
    "passwords = [\"required\", \"optional\"]",
    "Basic knowledge of PHP, CURLOPT_USERPWD, \"$user:$password\"",
    "ENV DB_PASSWORD $PASSWORD",
    "import x from \"ns:pkg1@/lib\"",
    "Password - must be changed",
    "password → see the vault",
    "https://hooks.example.org/docs/getting-started-with-hooks",
    "let key = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];",
    "seed: 42, seed = 1234567890",
    "accuweather for a forecast of version2",
    "  NewRelicAgent: 33fd9aa45e706d759003c7b7e8fc64008523652c",
    "kubectl create secret generic x --from-literal=any=$VALUE",
    "password: |\n  set by the operator\n",
    "data:\n  region: europe\nkind: ConfigMap\n",
    "mockaroo = \"customers\"",
    "key = \"2024-0001-0002-0003\"",
    "id/path:master,files/index",
    "192.168.0.1 root/files",
    "10.0.0.1 node/a1b2c3d4e5",
    "token - 'the next token of the line'",
    "tokens = [\"identifier\", \"number\"]",
    "the password for master:",
    "set(NAME, KEY_PASSWORD, value)",
    "PASSWORD = getenv(\"PASSWORD\")",
    "already [REDACTED-3] and password=[REDACTED-1]",
];

/// The text without «», and the spans that they marked.
fn unmark(example: &str) -> (String, Vec<(usize, usize)>) {
    let mut text = String::new();
    let mut spans = Vec::new();
    for part in example.split('«') {
        match part.split_once('»') {
            Some((secret, rest)) => {
                spans.push((text.len(), text.len() + secret.len()));
                text.push_str(secret);
                text.push_str(rest);
            }
            None => text.push_str(part),
        }
    }
    (text, spans)
}

#[test]
fn finds_exactly_the_marked_secrets() {
    for example in SPELLINGS.iter().chain(ORDINARY) {
        let (text, spans) = unmark(example);
        let found = Redactor::default().find(&text);
        let found: Vec<_> = found.iter().map(|f| (f.start, f.end)).collect();
        let show = |(start, end): &(usize, usize)| text[*start..*end].to_owned();
        assert_eq!(
            found.iter().map(show).collect::<Vec<_>>(),
            spans.iter().map(show).collect::<Vec<_>>(),
            "in {text:?}"
        );
        assert_eq!(found, spans, "in {text:?}");
    }
}

#[test]
fn merges_overlapping_hits() {
    let hits = vec![Hit::new("b", 2, 6), Hit::new("a", 0, 3), Hit::new("c", 8, 9)];
    let merged = merge("0123456789", hits);
    assert_eq!(merged, [Hit::new("b", 0, 6), Hit::new("c", 8, 9)]);
}

#[test]
fn json_keys_make_values_secrets() {
    let clean = Redactor::default().clean_json(serde_json::json!({
        "env": [{"name": "DB_PASSWORD", "value": "sesame"}, {"name": "PORT", "value": "80"}],
        "max_tokens": 4096,
        "pin": 4711,
        "pwd": 4711,
        "tokens": "12",
        "note": "nothing",
    }));
    assert_eq!(
        clean.value(),
        &serde_json::json!({
            "env": [{"name": "DB_PASSWORD", "value": "[REDACTED-1]"}, {"name": "PORT", "value": "80"}],
            "max_tokens": 4096,
            "pin": 4711,
            "pwd": "[REDACTED-2]",
            "tokens": "12",
            "note": "nothing",
        })
    );
    assert_eq!(clean.redactions_by_rule().get("json-key"), Some(&2));
}

#[test]
fn hides_the_user_beside_a_json_password() {
    let clean = Redactor::default().clean_json(serde_json::json!({
        "db": {"username": "ann", "password": "sesame", "host": "h"},
        "author": {"username": "ann", "role": "admin"},
    }));
    assert_eq!(
        clean.value(),
        &serde_json::json!({
            "db": {"username": "[REDACTED-1]", "password": "[REDACTED-2]", "host": "h"},
            "author": {"username": "ann", "role": "admin"},
        })
    );
}

#[test]
fn preserves_invalid_utf8() {
    let input = b"\xff\xfe diff --git\n+password=correct-horse-battery \xc3\n".to_vec();
    let output = Redactor::default().redact_bytes(&input);
    assert_eq!(output, b"\xff\xfe diff --git\n+password=[REDACTED-1] \xc3\n");
    assert_eq!(Redactor::default().redact_bytes(b"caf\xc3\xa9"), b"caf\xc3\xa9");
}

#[test]
fn find_reports_what_clean_hides() {
    for example in SPELLINGS {
        let (text, _) = unmark(example);
        let redactor = Redactor::default();
        let mut hidden = String::new();
        let mut at = 0;
        for finding in redactor.find(&text) {
            hidden.push_str(&text[at..finding.start]);
            hidden.push('#');
            at = finding.end;
        }
        hidden.push_str(&text[at..]);
        let clean = redactor.clean(&text);
        let mut marked = clean.as_str().to_owned();
        for number in (1..9).rev() {
            marked = marked.replace(&format!("[REDACTED-{number}]"), "#");
        }
        assert_eq!(hidden, marked, "{text}");
    }
}

/// What a text looks like in the files and reports of agents.
type Surrounding = (&'static str, fn(&str) -> String);

const SURROUNDINGS: &[Surrounding] = &[
    ("between paragraphs", |text| format!("What I found out.\n\n{text}\n\nThat is all.\n")),
    ("in a block of code", |text| format!("See:\n\n```\n{text}\n```\n")),
    ("with the line endings of Windows", |text| text.replace('\n', "\r\n")),
    ("after a byte order mark", |text| format!("\u{feff}{text}")),
    ("in a file of Windows", |text| format!("\u{feff}{}\r\n", text.replace('\n', "\r\n"))),
    ("in a file of many lines", |text| {
        format!("{}{text}\n{}", "# a line\n".repeat(500), "# another\n".repeat(500))
    }),
];

/// The first lines of the secrets of an example: one of several lines is found if its first is.
fn secrets(text: &str, spans: &[(usize, usize)]) -> Vec<String> {
    let first =
        |(start, end): &(usize, usize)| text[*start..*end].lines().next().map(str::to_owned);
    spans.iter().filter_map(first).collect()
}

#[test]
fn secrets_are_found_wherever_they_are() {
    let redactor = Redactor::default();
    let mut missed = Vec::new();
    for example in SPELLINGS {
        let (text, spans) = unmark(example);
        for (name, surround) in SURROUNDINGS {
            let surrounded = surround(&text);
            let clean = redactor.clean(&surrounded);
            if secrets(&text, &spans).iter().any(|secret| clean.as_str().contains(secret)) {
                missed.push(format!("{name}: {example:?}"));
            }
        }
    }
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn ordinary_texts_stay_as_they_are_wherever_they_are() {
    let redactor = Redactor::default();
    let mut changed = Vec::new();
    for example in ORDINARY {
        for (name, surround) in SURROUNDINGS {
            let surrounded = surround(example);
            if redactor.clean(&surrounded).as_str() != surrounded {
                changed.push(format!("{name}: {example:?}"));
            }
        }
    }
    assert!(changed.is_empty(), "{} changed:\n{}", changed.len(), changed.join("\n"));
}

/// An example does not hide its neighbor.
#[test]
fn secrets_beside_each_other_are_all_found() {
    let redactor = Redactor::default();
    for pair in SPELLINGS.windows(2) {
        let [(one, one_spans), (two, two_spans)] = [pair[0], pair[1]].map(unmark);
        let both = format!("{one}\n\nand then\n\n{two}\n\nagain\n\n{one}\n");
        let clean = redactor.clean(&both);
        // What is secret in one may be an ordinary word of the other.
        let unmarked = |example: &str| -> String {
            example
                .split('«')
                .map(|part| part.split_once('»').map_or(part, |(_, rest)| rest))
                .collect()
        };
        let ordinary = [unmarked(pair[0]), unmarked(pair[1])].concat();
        for secret in secrets(&one, &one_spans).iter().chain(&secrets(&two, &two_spans)) {
            let is_ordinary = ordinary.contains(secret.as_str());
            assert!(
                is_ordinary || !clean.as_str().contains(secret),
                "{secret:?} in {}",
                clean.as_str()
            );
        }
    }
}
