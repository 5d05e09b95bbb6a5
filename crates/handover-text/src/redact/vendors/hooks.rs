//! Addresses that grant access to anyone who knows them: web hooks, heartbeats, log collectors.

use super::Vendor;

pub(super) const TABLE: &[Vendor] = vendors! {
    "victorops-webhook": "alert.victorops.com/integrations/generic/{x30,}", yes "https://alert.victorops.com/integrations/generic/20131114/alert/(a1b2)8-(c3d4)4-(e5f6)4-(a7b8)4-(c9d0)12/x", no "https://alert.victorops.com/integrations/generic/docs";
    "sumologic-collector": "sumologic.com/receiver/v1/http/{B40,}", yes "https://endpoint1.collection.sumologic.com/receiver/v1/http/(a1B2)80==", no "https://help.sumologic.com/receiver/v1/http/x";
    "loggly-input": "loggly.com/inputs/{U36}", yes "https://logs-01.loggly.com/inputs/(a1b2)8-(c3d4)4-(e5f6)4-(a7b8)4-(c9d0)12/tag/http", no "https://loggly.com/inputs/docs";
    "healthchecks-ping": "hc-ping.com/{U36}" | "healthchecks.io/ping/{U36}", yes "https://hc-ping.com/(a1b2)8-(c3d4)4-(e5f6)4-(a7b8)4-(c9d0)12", no "https://hc-ping.com/docs";
    "cronitor-ping": "cronitor.link/p/{h32}", yes "https://cronitor.link/p/(a1b2)32/job", no "https://cronitor.link/p/docs";
    "better-uptime-heartbeat": "betteruptime.com/api/v1/heartbeat/{w20,}" | "uptime.betterstack.com/api/v1/heartbeat/{w20,}", yes "https://betteruptime.com/api/v1/heartbeat/(a1B2)24", no "https://betteruptime.com/api/v1/heartbeat/x";
    "netlify-build-hook": "api.netlify.com/build_hooks/{h24}", yes "https://api.netlify.com/build_hooks/(a1b2)24", no "https://api.netlify.com/build_hooks/x";
    "vercel-deploy-hook": "api.vercel.com/v1/integrations/deploy/prj_{w20,}/{w8,}", yes "https://api.vercel.com/v1/integrations/deploy/prj_(a1B2)28/(a1B2)10", no "https://api.vercel.com/v1/integrations/deploy";
    "render-deploy-hook": "api.render.com/deploy/srv-{a20}?key={b8,}", yes "https://api.render.com/deploy/srv-(a1b2)20?key=(a1B2)11", no "https://api.render.com/deploy/srv-(a1b2)20";
    "power-automate-webhook": "environment.api.powerplatform.com/powerautomate/automations/direct/workflows/{h32}/{x10,}" | "environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/{h32}/{x10,}", yes "https://default(a1b2)30.c3.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/(a1b2)32/triggers/manual/paths/invoke?sig=(a1B2)43", no "https://environment.api.powerplatform.com/docs";
    "pagerduty-integration": "events.pagerduty.com/integration/{h32}", yes "https://events.pagerduty.com/integration/(a1b2)32/enqueue", no "https://events.pagerduty.com/integration/x";
    "webhook-site": "webhook.site/{U36}", yes "https://webhook.site/(a1b2)8-(c3d4)4-(e5f6)4-(a7b8)4-(c9d0)12", no "https://webhook.site/docs";
    "pipedream-endpoint": "<8<m.pipedream.net/{x8,}" | "hooks.pipedream.com/{w20,}", yes "https://hooks.pipedream.com/(a1b2)32", no "https://hooks.pipedream.com/docs";
    "deploy-hook": "client/v4/pages/webhooks/deploy_hooks/{U36}", yes "https://api.cloudflare.com/client/v4/pages/webhooks/deploy_hooks/(a1b2)8-(c3d4)4-(e5f6)4-(a7b8)4-(c9d0)12", no "client/v4/pages/webhooks/deploy_hooks/x";
    "bannerbear-key": "bb_ma_{h30}" | "bb_pr_{h30}", yes "bb_ma_(a1b2)30", no "bb_ma_x";
    "fullstory-key": "na1.{B80,}?" | "eu1.{B80,}?", yes "na1.(a1B2)104", no "na1.example.org";
    "salad-cloud-key": "salad_cloud_user_{b20,}", yes "salad_cloud_user_(a1B2)40", no "salad_cloud_user_name";
    "promptlayer-key": "pl_{h32}!", yes "pl_(a1b2)32", no "pl_(a1b2)8";
};
