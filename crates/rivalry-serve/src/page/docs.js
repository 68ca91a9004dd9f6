"use strict";
// A page of the OpenAPI document: paths, parameters, bodies and answers.

function make(tag, text, ...children) {
  const element = document.createElement(tag);
  if (text) element.append(text);
  element.append(...children);
  return element;
}

/** The type of a schema, in a few words. */
function type(schema, document) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  for (const kind of ["oneOf", "anyOf", "allOf"]) if (schema[kind]) return schema[kind].map((part) => type(part, document)).join(" or ");
  if (schema.type === "array") return `list of ${type(schema.items, document)}`;
  return [schema.type].flat().join(" or ");
}

/** The fields of a schema, those of its parts included. */
function fields(schema, document) {
  if (schema.$ref) return fields(document.components.schemas[schema.$ref.split("/").pop()], document);
  if (schema.allOf) return schema.allOf.flatMap((part) => fields(part, document));
  const required = schema.required || [];
  return Object.entries(schema.properties || {}).map(([name, field]) => [name, type(field, document), required.includes(name), field.description || ""]);
}

function list(rows) {
  const list = make("ul");
  for (const [name, kind, required, description] of rows) {
    list.append(make("li", "", make("code", name), ` ${kind}${required ? ", required" : ""}${description ? `: ${description}` : ""}`));
  }
  return list;
}

async function show() {
  const document_ = await (await fetch("openapi.json")).json();
  document.getElementById("description").textContent = document_.info.description;
  for (const [path, methods] of Object.entries(document_.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const article = make("article", "", make("h3", "", make("code", `${method.toUpperCase()} ${path}`)), make("p", operation.summary || ""));
      if (operation.description) article.append(make("p", operation.description));
      if (operation.parameters) {
        article.append(make("h4", "Parameters"), list(operation.parameters.map((parameter) => [parameter.name, type(parameter.schema, document_), parameter.required, parameter.description || ""])));
      }
      const body = operation.requestBody?.content["application/json"]?.schema;
      if (body) article.append(make("h4", "Body"), list(fields(body, document_)));
      const answer = operation.responses["200"]?.content;
      const schema = answer?.["application/json"]?.schema;
      article.append(make("h4", "Answer"), schema ? list(fields(schema, document_)) : make("p", Object.keys(answer || {}).join(", ")));
      const errors = Object.keys(operation.responses).filter((status) => status !== "200");
      if (errors.length > 0) article.append(make("p", `Errors: ${errors.join(", ")}`));
      document.getElementById("paths").append(article);
    }
  }
}
show();
