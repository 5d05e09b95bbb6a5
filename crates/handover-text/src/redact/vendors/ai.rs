//! Keys of model providers and of the services around them.

use super::Vendor;

pub(super) const TABLE: &[Vendor] = vendors! {
    "anthropic-key": "sk-ant-{b20,}", yes "sk-ant-api03-(a1B2)93AA", no "sk-ant-hill";
    "openai-key": "sk-proj-{b20,}" | "sk-svcacct-{b20,}" | "sk-admin-{b20,}" | "sk-service-{b20,}" | "sk-None-{b20,}" | "sk-{w20}T3BlbkFJ{w20}", yes "sk-proj-(a1B2)60", no "sk-proj-(a1B2)10";
    "openai-session": "sess-{w40}", yes "sess-(a1B2)40", no "sess-(a1B2)12";
    "model-provider-key": "sk-{w32,}?", yes "sk-(a1B2)48", no "sk-learn-contrib";
    "openrouter-key": "sk-or-v1-{h64}" | "sk-or-{b40,}", yes "sk-or-v1-(a1b2)64", no "sk-or-v1-(a1b2)20";
    "perplexity-key": "pplx-{w40,}", yes "pplx-(a1B2)48", no "pplx-(a1B2)12";
    "groq-key": "gsk_{w40,}", yes "gsk_(a1B2)52", no "gsk_window_new";
    "huggingface-token": "hf_{w30,}?" | "api_org_{w34}", yes "hf_(aBcD)34", no "hf_hub_download_from_the_hub";
    "replicate-token": "r8_{w37}", yes "r8_(a1B2)37", no "r8_(a1B2)9";
    "xai-key": "xai-{w70,}", yes "xai-(a1B2)80", no "xai-(a1B2)20";
    "fireworks-key": "fw_{w22,}?", yes "fw_(a1B2)24", no "fw_update_in_progress";
    "together-key": "tgp_v1_{b40,}", yes "tgp_v1_(a1B2)43", no "tgp_v1_x";
    "cerebras-key": "csk-{a40,}", yes "csk-(a1b2)48", no "csk-(a1b2)9";
    "nvidia-key": "nvapi-{b55,}", yes "nvapi-(a1B2)64", no "nvapi-client";
    "langsmith-key": "lsv2_pt_{h32}_{h10}" | "lsv2_sk_{h32}_{h10}" | "ls__{h32}", yes "lsv2_pt_(a1b2)32_(c3)10", no "lsv2_pt_(a1b2)8";
    "langfuse-key": "sk-lf-{U36}" | "pk-lf-{U36}", yes "sk-lf-(a1b2)8-(c3d4)4-(e5f6)4-(a7b8)4-(c9d0)12", no "sk-lf-none";
    "pinecone-key": "pcsk_{w5,6}_{w50,}", yes "pcsk_(a1)6_(a1B2)63", no "pcsk_(a1)6_x";
    "tavily-key": "tvly-{b20,}", yes "tvly-dev-(a1B2)32", no "tvly-x";
    "firecrawl-key": "fc-{h32}", yes "fc-(a1b2)32", no "fc-(a1b2)8";
    "elevenlabs-key": "sk_{h48}!", yes "sk_(a1b2)48", no "sk_(a1b2)20";
    "jina-key": "jina_{b40,}", yes "jina_(a1B2)64", no "jina_embeddings";
    "voyage-key": "pa-{b43}?", yes "pa-(a1B2)43", no "pa-(a1B2)12";
    "anyscale-key": "esecret_{w20,}", yes "esecret_(a1B2)24", no "esecret_x";
    "e2b-key": "e2b_{h40}", yes "e2b_(a1b2)40", no "e2b_template";
    "modal-token": "ak-{w22}!" | "as-{w22}!", yes "ak-(a1B2)22", no "ak-(a1B2)9";
    "runpod-key": "rpa_{w38,}", yes "rpa_(A1B2)46", no "rpa_x";
    "llamacloud-key": "llx-{w40,}", yes "llx-(a1B2)48", no "llx-(a1B2)8";
    "helicone-key": "sk-helicone-{b20,}" | "pk-helicone-{b20,}", yes "sk-helicone-(a1b2)31", no "sk-helicone-x";
    "wandb-key": "wandb_v1_{b60,}", yes "wandb_v1_(a1B2)77", no "wandb_v1_x";
    "browserbase-key": "bb_live_{b20,}" | "bb_test_{b20,}", yes "bb_live_(a1B2)32", no "bb_live_x";
    "vercel-ai-gateway-key": "vck_{w40,}", yes "vck_(a1B2)56", no "vck_x";
    "mem0-key": "m0-{w40}", yes "m0-(a1B2)40", no "m0-(a1B2)8";
    "apify-token": "apify_api_{w36}", yes "apify_api_(a1B2)36", no "apify_api_client";
    "brave-search-key": "BSA{b27}!?", yes "BSA(a1B2)27", no "BSA(a1B2)9";
    "deepinfra-key": "jwt:eyJ{b30,}", yes "jwt:eyJ(a1B2)40", no "jwt:eyJx";
    "friendli-token": "flp_{w40,}", yes "flp_(a1B2)48", no "flp_x";
    "predibase-key": "pb_{b22}!", yes "pb_(a1B2)22", no "pb_field";
    "lambda-cloud-key": "secret_{a4,}_{h32}.{w32}", yes "secret_acme_(a1b2)32.(a1B2)32", no "secret_acme_(a1b2)8";
    "google-gemini-key": "AQ.Ab{b40,}", yes "AQ.Ab(a1B2)48", no "AQ.Ab12";
    "braintrust-key": "sk-bt-{b20,}" | "bt-st-{w40,}", yes "bt-st-(a1B2)48", no "bt-st-x";
};
