//! Chat, mail, telephony, notifications and social networks.

use super::Vendor;

pub(super) const TABLE: &[Vendor] = vendors! {
    "slack-token": "xoxb-{x10,}" | "xoxp-{x10,}" | "xoxa-{x10,}" | "xoxr-{x10,}" | "xoxo-{x10,}" | "xoxs-{x10,}" | "xoxe-{x10,}" | "xoxc-{x10,}" | "xoxd-{p10,}" | "xoxe.xoxp-{x10,}" | "xoxe.xoxb-{x10,}" | "xapp-{d1}-{x10,}" | "xwfp-{x10,}", yes "xoxb-(12)12-(34)12-(a1B2)24", no "xoxb-x";
    "slack-webhook": "hooks.slack.com/services/{x20,}" | "hooks.slack.com/workflows/{x20,}" | "hooks.slack.com/triggers/{x20,}" | "hooks.slack-gov.com/services/{x20,}", yes "https://hooks.slack.com/services/T(A1B2)8/B(A1B2)8/(a1B2)24", no "https://hooks.slack.com/help";
    "discord-webhook": "discord.com/api/webhooks/{d15,}/{b30,}" | "discordapp.com/api/webhooks/{d15,}/{b30,}", yes "https://discord.com/api/webhooks/(12)18/(a1B2)68", no "https://discord.com/api/webhooks/docs";
    "discord-mfa-token": "mfa.{b60,}", yes "mfa.(a1B2)84", no "mfa.enabled";
    "teams-webhook": "outlook.office.com/webhook/{U36}@{U36}/IncomingWebhook/{x30,}" | "outlook.office.com/webhook/{U36}%{p30,}" | "outlook.office365.com/webhook/{U36}@{U36}/IncomingWebhook/{x30,}" | "<1<webhook.office.com/webhookb2/{U36}@{U36}/IncomingWebhook/{x30,}" | "<1<webhook.office.com/webhookb2/{x36,}", yes "https://acme.webhook.office.com/webhookb2/(a1b2)8-(c3d4)4-(e5f6)4-(a7b8)4-(c9d0)12/IncomingWebhook/(a1b2)32", no "https://acme.webhook.office.com/docs";
    "google-chat-webhook": "chat.googleapis.com/v1/spaces/{w8,}/messages?key={x20,}", yes "https://chat.googleapis.com/v1/spaces/(A1b2)11/messages?key=(a1B2)39", no "https://chat.googleapis.com/v1/spaces/x";
    "zapier-webhook": "hooks.zapier.com/hooks/catch/{d4,}/{w5,}", yes "https://hooks.zapier.com/hooks/catch/(12)7/(a1b2)7", no "https://hooks.zapier.com/docs";
    "ifttt-webhook": "maker.ifttt.com/trigger/{b1,}/with/key/{b20,}" | "maker.ifttt.com/use/{b20,}", yes "https://maker.ifttt.com/use/(a1B2)43", no "https://maker.ifttt.com/use";
    "azure-logic-webhook": "<1<logic.azure.com:443/workflows/{h32}/{x10,}", yes "https://prod-01.westeurope.logic.azure.com:443/workflows/(a1b2)32/triggers/manual/paths/invoke?sig=(a1B2)43", no "https://logic.azure.com";
    "telegram-bot-url": "api.telegram.org/bot{d5,}:{b30,}", yes "https://api.telegram.org/bot(12)9:AA(a1B2)33", no "https://api.telegram.org/bots";
    "matrix-token": "syt_{b4,}_{w20}_{w6}", yes "syt_(a1)8_(a1B2)20_(c3)6", no "syt_x";
    "twilio-key": "SK{H32}!" | "AC{H32}!", yes "SK(a1b2)32", no "SK(a1)9";
    "sendgrid-key": "SG.{x60,}", yes "SG.(a1B2)22.(a1B2)43", no "SG.module.name";
    "mailgun-key": "key-{h32}!" | "key-{a32}!?" | "pubkey-{h32}!" | "mg-{h32}!", yes "key-(a1b2)32", no "key-(a1)8";
    "brevo-key": "xkeysib-{h64}-{w16}" | "xsmtpsib-{h64}-{w16}", yes "xkeysib-(a1b2)64-(a1B2)16", no "xkeysib-x";
    "resend-key": "re_{w8}_{w24}" | "re_{w30,}?", yes "re_(a1B2)8_(a1B2)24", no "re_export_everything_from_the_module";
    "mailersend-key": "mlsn.{h60,}", yes "mlsn.(a1b2)64", no "mlsn.x";
    "klaviyo-key": "pk_{h34}!", yes "pk_(a1b2)34", no "pk_(a1)8";
    "intercom-token": "dG9rO{B40,}", yes "dG9rO(a1B2)55=", no "dG9rOx";
    "onesignal-key": "os_v2_app_{a80,}" | "os_v2_org_{a80,}", yes "os_v2_app_(a1b2)103", no "os_v2_app_x";
    "wechat-app": "wx{h16}!", yes "wx(a1b2)16", no "wx(a1b2)9";
    "pubnub-key": "sec-c-{x40,}" | "sub-c-{b36}?" | "pub-c-{b36}?" | "sub-c-{a8}-{a4}-{a4}-{a4}-{a12}!" | "pub-c-{a8}-{a4}-{a4}-{a4}-{a12}!", yes "sec-c-(a1B2)48", no "sec-c-x";
    "courier-key": "pk_prod_{w28,}" | "dk_prod_{w28,}", yes "pk_prod_(A1B2)28", no "pk_prod_x";
    "telnyx-key": "KEY{H32}_{w16,}", yes "KEY(A1B2)32_(a1B2)22", no "KEY(A1B2)9";
    "facebook-token": "EAA{w90,}" | "EAACEdEose0cBA{w20,}", yes "EAA(a1B2)150", no "EAA(a1)9";
    "instagram-token": "IGQ{w80,}" | "IGA{w80,}", yes "IGQV(a1B2)120", no "IGQVx";
    "twitter-bearer": "AAAAAAAAAAAAAAAAAAAAA{p60,}", yes "AAAAAAAAAAAAAAAAAAAAA(a1B2)80", no "AAAAAAAAAAAAAAAAAAAAA";
    "linkedin-secret": "WPL_AP1.{x16,}" | "WPL_AP0.{x16,}", yes "WPL_AP1.(a1B2)16.(c3)8==", no "WPL_AP1.x";
    "tiktok-token": "clt.{x40,}" | "act.{x40,}" | "rft.{x40,}", yes "act.(a1B2)64", no "act.release_the_lock";
    "pinterest-token": "pina_{A60,}" | "pinr.{x60,}", yes "pina_(A1B2)84", no "pina_x";
    "pushbullet-token": "o.{w32}!?", yes "o.(a1B2)32", no "o.value";
    "ntfy-token": "tk_{a29}!", yes "tk_(a1b2)29", no "tk_x";
    "lark-webhook": "open.feishu.cn/open-apis/bot/v2/hook/{U36}" | "open.larksuite.com/open-apis/bot/v2/hook/{U36}", yes "https://open.feishu.cn/open-apis/bot/v2/hook/(a1b2)8-(c3d4)4-(e5f6)4-(a7b8)4-(c9d0)12", no "https://open.feishu.cn/docs";
    "dingtalk-webhook": "oapi.dingtalk.com/robot/send?access_token={h64}", yes "https://oapi.dingtalk.com/robot/send?access_token=(a1b2)64", no "https://oapi.dingtalk.com/robot";
    "wecom-webhook": "qyapi.weixin.qq.com/cgi-bin/webhook/send?key={U36}", yes "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=(a1b2)8-(c3d4)4-(e5f6)4-(a7b8)4-(c9d0)12", no "https://qyapi.weixin.qq.com/cgi-bin";
    "make-webhook": "hook.eu1.make.com/{a24,}" | "hook.eu2.make.com/{a24,}" | "hook.us1.make.com/{a24,}" | "hook.us2.make.com/{a24,}" | "hook.integromat.com/{a24,}", yes "hook.eu1.make.com/(a1b2)32", no "hook.eu1.make.com/x";
    "tines-webhook": "<1<tines.com/webhook/{h32}/{h32}", yes "acme.tines.com/webhook/(a1b2)32/(c3d4)32", no "acme.tines.com/webhook/x";
    "vk-token": "vk1.a.{b80,}", yes "vk1.a.(a1B2)180", no "vk1.a.x";
    "twitch-irc-token": "oauth:{a30}!?", yes "oauth:(a1b2)30", no "oauth:authorize";
    "gc-notify-key": "gcntfy-{b1,80}-{U36}-{U36}", yes "gcntfy-app-(a1b2)8-(c3d4)4-(e5f6)4-(a7b8)4-(c9d0)12-(a1b2)8-(c3d4)4-(e5f6)4-(a7b8)4-(c9d0)12", no "gcntfy-app-x";
    "oculus-token": "OC|{d10,}|{w20,}" | "FRL|{d10,}|{w20,}", yes "OC|(12)16|(a1b2)32", no "OC|(12)4|x";
};
