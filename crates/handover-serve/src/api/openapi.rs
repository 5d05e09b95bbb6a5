//! `/api/v1/openapi.json`: the endpoint table as an OpenAPI document.

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use super::{Endpoint, Verb, endpoints};
use crate::response::{Response, json_response};

pub(super) async fn document() -> Response {
    json_response(StatusCode::OK, &describe())
}

fn describe() -> Value {
    let mut paths = Map::new();
    for endpoint in endpoints() {
        let path = paths.entry(format!("/api/v1{}", endpoint.path)).or_insert_with(|| json!({}));
        let verb = match endpoint.verb {
            Verb::Get => "get",
            Verb::Post(_) => "post",
        };
        path[verb] = operation(endpoint);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Handover",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Responses have the shape of the command line's --json.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Answer": {"type": "object", "properties": {"schema": {"const": 1}}, "required": ["schema"]},
                "Error": {"type": "object", "properties": {
                    "schema": {"const": 1},
                    "error": {"type": "object", "properties": {
                        "code": {"type": "string"},
                        "message": {"type": "string"},
                        "hint": {"type": ["string", "null"]},
                    }, "required": ["code", "message"]},
                }, "required": ["schema", "error"]},
            },
        },
        "security": [{"token": []}, {}],
    })
}

fn operation(endpoint: &Endpoint) -> Value {
    let parts =
        endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<Value> = parts
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    parameters.extend(endpoint.query.iter().map(|(name, description)| {
        json!({"name": name, "in": "query", "description": description, "schema": {"type": "string"}})
    }));
    let response = |description: &str, schema: &str| {
        let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
        json!({"description": description, "content": {"application/json": {"schema": schema}}})
    };
    let mut operation = json!({
        "summary": endpoint.summary,
        "parameters": parameters,
        "responses": {
            "200": response("success", "Answer"),
            "default": response("failure", "Error"),
        },
    });
    if let Verb::Post(example) = endpoint.verb {
        let example: Value = serde_json::from_str(example).unwrap_or_default();
        operation["requestBody"] = json!({
            "required": true,
            "content": {"application/json": {"schema": {"type": "object"}, "example": example}},
        });
    }
    operation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_every_endpoint_with_a_valid_example() {
        let described = describe();
        for endpoint in endpoints() {
            let path = &described["paths"][format!("/api/v1{}", endpoint.path)];
            match endpoint.verb {
                Verb::Get => assert!(path["get"]["summary"].is_string(), "{}", endpoint.path),
                Verb::Post(_) => {
                    let body = &path["post"]["requestBody"]["content"]["application/json"];
                    assert!(body["example"].is_object(), "{}", endpoint.path);
                }
            }
        }
    }

    #[test]
    fn docs_list_every_endpoint() {
        let text = include_str!("../../../../docs/api.md");
        for endpoint in endpoints() {
            let verb = match endpoint.verb {
                Verb::Get => "GET",
                Verb::Post(_) => "POST",
            };
            let line = format!("`{verb} {}`", endpoint.path);
            assert!(text.contains(&line), "docs/api.md does not have {line}");
        }
    }
}
