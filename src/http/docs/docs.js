// The page /docs: a form that sends lookups, and the API reference, rendered from openapi.json.
//
// Foreign text (data, facts, the description) only ever becomes text nodes. JSON is indented as text and not parsed,
// since JavaScript cannot represent large numbers exactly.

const byId = (id) => document.getElementById(id);

/** Creates an element with attributes and children; strings become text nodes. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

// --- JSON as text

/** A token of JSON: a string, a punctuation character, or a number or literal. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Formats JSON with one member per line; short arrays and objects stay on one line. */
function indent(json) {
  const tokens = json.match(TOKENS) ?? [];
  let index = 0;
  const value = (margin) => {
    const token = tokens[index++];
    if (token !== "{" && token !== "[") return token ?? "";
    const end = token === "{" ? "}" : "]";
    const items = [];
    while (index < tokens.length && tokens[index] !== end) {
      let item = value(margin + "  ");
      if (tokens[index] === ":") {
        index++;
        item += ": " + value(margin + "  ");
      }
      items.push(item);
      if (tokens[index] === ",") index++;
    }
    index++;
    const line = token + items.join(", ") + end;
    if (items.length === 0 || (line.length < 60 && !line.includes("\n"))) return line;
    const inner = margin + "  ";
    return `${token}\n${inner}${items.join(",\n" + inner)}\n${margin}${end}`;
  };
  return value("");
}

const show = (value) => (typeof value === "string" ? value : indent(JSON.stringify(value)));

// --- The form

const form = byId("lookup");

/** The request of the form: the body as JSON, and whether to ask for text. Throws if the facts are not an object. */
function request() {
  const field = (name) => form.elements[name].value.trim();
  const members = [["key", JSON.stringify(form.elements.key.value)]];
  for (const name of ["environment", "node", "merge"]) {
    if (field(name)) members.push([name, JSON.stringify(field(name))]);
  }
  if (field("facts")) {
    const facts = JSON.parse(field("facts"));
    if (facts === null || typeof facts !== "object" || Array.isArray(facts)) {
      throw new SyntaxError("facts must be an object: {\"name\": value, …}");
    }
    // As typed, so that large numbers arrive unchanged.
    members.push(["facts", field("facts")]);
  }
  const explain = field("explain");
  if (explain) members.push(["explain", explain === "true" ? "true" : JSON.stringify(explain)]);
  return {
    body: `{${members.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(", ")}}`,
    isText: explain !== "" && field("form") === "text",
  };
}

const lookupAddress = () => new URL("lookup", document.baseURI);
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Shows the equivalent curl command, and any error in the facts. */
function update() {
  const facts = form.elements.facts;
  let wanted = null;
  let problem = "";
  try {
    wanted = request();
  } catch (error) {
    problem = `Not a JSON object: ${error.message}`;
  }
  facts.setAttribute("aria-invalid", String(problem !== ""));
  if (byId("facts-error").textContent !== problem) byId("facts-error").textContent = problem;
  if (wanted) {
    const accept = wanted.isText ? " -H 'Accept: text/plain'" : "";
    byId("curl").textContent = `curl -s ${quoted(lookupAddress().href)}${accept} --json ${quoted(wanted.body)}`;
  }
  return wanted;
}

function showAnswer(status, isGood, text) {
  byId("status").className = isGood ? "good" : "bad";
  byId("status").textContent = status;
  byId("answer").textContent = text;
}

async function send(event) {
  event.preventDefault();
  const wanted = update();
  if (!wanted) {
    form.elements.facts.focus();
    return;
  }
  const start = performance.now();
  try {
    const response = await fetch(lookupAddress(), {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: wanted.isText ? "text/plain" : "application/json",
      },
      body: wanted.body,
    });
    const text = await response.text();
    const took = Math.round(performance.now() - start);
    const isJson = (response.headers.get("Content-Type") ?? "").includes("json");
    showAnswer(`${response.status} ${response.statusText}, ${took} ms`, response.ok, isJson ? indent(text) : text);
  } catch (error) {
    showAnswer("No response", false, error.message);
  }
}

form.addEventListener("submit", send);
form.addEventListener("input", update);

/** Suggests the names of environments. If this fails, the field still accepts any name. */
async function offerEnvironments() {
  const response = await fetch("environments");
  const { environments } = await response.json();
  byId("environments").append(...Object.keys(environments).map((name) => element("option", { value: name })));
}

// --- The description

let description = {};

/** Resolves a `$ref`. */
function resolved(value) {
  if (!value?.$ref) return value ?? {};
  return value.$ref.slice(2).split("/").reduce((parent, name) => parent[name], description);
}

/** Renders text with `code` in backticks. */
function inline(text) {
  return text.split("`").map((part, index) => (index % 2 ? element("code", {}, part) : part));
}

/** Renders paragraphs separated by empty lines. */
function prose(text) {
  return (text ?? "").trim().split(/\n\s*\n/).filter(Boolean).map((part) => element("p", {}, inline(part)));
}

function table(headings, rows) {
  if (rows.length === 0) return null;
  const head = element("tr", {}, headings.map((heading) => element("th", { scope: "col" }, heading)));
  const body = rows.map((cells) => element("tr", {}, cells.map((cell) => element("td", {}, cell))));
  return element("div", { class: "scroll" },
    element("table", {}, element("thead", {}, head), element("tbody", {}, body)));
}

function example(title, value) {
  return element("details", {}, element("summary", {}, title), element("pre", { tabindex: "0" }, show(value)));
}

/** All examples of a body as [title, value]. */
function examplesOf(content) {
  const named = Object.values(content.examples ?? {}).map(({ summary, value }) => [summary, value]);
  return content.example === undefined ? named : [["Example", content.example], ...named];
}

const schemaId = (name) => `schema-${name}`;

/** A short description of the type of a schema. */
function kindOf(schema) {
  if (schema === true) return ["anything"];
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return [element("a", { href: `#${schemaId(name)}` }, name)];
  }
  const several = schema.oneOf ?? schema.allOf;
  if (several?.every((part) => part.type || part.$ref)) {
    return several.flatMap((part, index) => [index ? (schema.oneOf ? " or " : " and ") : "", ...kindOf(part)]);
  }
  if (schema.enum) {
    return schema.enum.flatMap((value, index) => [index ? ", " : "", element("code", {}, JSON.stringify(value))]);
  }
  if (schema.const !== undefined) return [element("code", {}, JSON.stringify(schema.const))];
  const types = [schema.type ?? "anything"].flat();
  if (types.includes("array") && schema.items) return ["array of ", ...kindOf(schema.items)];
  return [types.join(" or ")];
}

/** The default of a schema, if it has one. */
function defaultOf(schema) {
  if (schema.default === undefined) return null;
  return element("p", {}, "Default: ", element("code", {}, JSON.stringify(schema.default)));
}

function fields(schema) {
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties ?? {}).map(([name, property]) => [
    [element("code", {}, name), required.has(name) ? element("div", { class: "quiet" }, "required") : null],
    kindOf(property),
    [
      prose(property.description),
      defaultOf(property),
    ],
  ]);
  return table(["Field", "Type", "Meaning"], rows);
}

function parameters(list) {
  const rows = (list ?? []).map(resolved).map((parameter) => [
    [element("code", {}, parameter.name), element("div", { class: "quiet" }, parameter.in)],
    kindOf(parameter.schema),
    [
      prose(parameter.description),
      defaultOf(parameter.schema),
      parameter.example === undefined ? null : element("p", {}, "Example: ", element("code", {}, show(parameter.example))),
    ],
  ]);
  return rows.length ? [element("h4", {}, "Parameters"), table(["Name", "Type", "Meaning"], rows)] : [];
}

function contents(content) {
  return Object.entries(content ?? {}).flatMap(([kind, body]) => [
    element("p", {}, element("code", {}, kind), ": ", kindOf(body.schema ?? true)),
    examplesOf(body).map(([title, value]) => example(title, value)),
  ]);
}

/** The fields of a JSON body. */
const bodyFields = (content) => fields(resolved(content["application/json"]?.schema));

function operation(path, method, details) {
  const isPlain = method === "get" && !path.includes("{") && !path.startsWith("/docs");
  const name = element("code", {}, element("span", { class: "method" }, method.toUpperCase()), ` ${path}`);
  const body = details.requestBody;
  const responses = Object.entries(details.responses).map(([status, response]) => {
    const known = resolved(response);
    const headers = Object.entries(known.headers ?? {}).map(([header, { description: text }]) =>
      element("p", {}, "Header ", element("code", {}, header), ": ", inline(text ?? "")));
    return [status, [prose(known.description), headers, contents(known.content)]];
  });
  return element("article", { id: details.operationId, "aria-labelledby": `${details.operationId}-heading` },
    element("h3", { id: `${details.operationId}-heading` }, name),
    element("p", {}, inline(details.summary), isPlain ? [" ", element("a", { href: path.slice(1) }, "Open")] : null),
    prose(details.description),
    parameters(details.parameters),
    body ? [element("h4", {}, "Body"), contents(body.content), bodyFields(body.content)] : null,
    element("h4", {}, "Responses"),
    table(["Status", "Meaning"], responses));
}

/** An example of each problem document, by its type. */
function problemExamples() {
  const found = new Map();
  const visit = (value) => {
    if (value === null || typeof value !== "object") return;
    if (String(value.type).startsWith("/problems/") && value.status && !found.has(value.type)) found.set(value.type, value);
    Object.values(value).forEach(visit);
  };
  // Shared responses come first: they have the most general example.
  visit(description.components);
  visit(description.paths);
  return found;
}

function problems() {
  const examples = problemExamples();
  const rows = description.components.schemas.Problem.properties.type.enum.map((type) => {
    const { status = "", title = "", detail } = examples.get(type) ?? {};
    return [element("code", {}, type.replace("/problems", "")), String(status),
      [element("p", {}, title), detail ? element("p", { class: "quiet" }, inline(detail)) : null]];
  });
  return table(["Type ends in", "Status", "Title, and an example of detail"], rows);
}

function section(id, title, ...content) {
  byId("contents").append(element("li", {}, element("a", { href: `#${id}` }, title)));
  return element("section", { id, "aria-labelledby": `${id}-heading` },
    element("h2", { id: `${id}-heading` }, title), ...content);
}

function reference() {
  const all = Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, details]) => [path, method, details]));
  const groups = description.tags.map(({ name, description: text }) => section(`tag-${name}`, text.replace(/\.$/, ""),
    all.filter(([, , details]) => details.tags.includes(name)).map((found) => operation(...found))));
  const schemas = Object.entries(description.components.schemas).map(([name, schema]) =>
    element("article", { id: schemaId(name) },
      element("h3", {}, name),
      prose(schema.description),
      schema.properties || schema.allOf ? null : element("p", {}, kindOf(schema)),
      (schema.allOf ?? [schema]).map((part) => (part.$ref ? element("p", {}, "All of ", kindOf(part), ", and:") : fields(part)))));
  return [...groups, section("problems", "Problems", problems()), section("schemas", "Schemas", schemas)];
}

async function start() {
  update();
  offerEnvironments().catch(() => {});
  const target = byId("reference");
  try {
    const response = await fetch("openapi.json");
    description = await response.json();
    byId("summary").replaceChildren(...[description.info.summary, ". Version ", description.info.version, ". The API description as ",
      element("a", { href: "openapi.yaml" }, "YAML"), " or ", element("a", { href: "openapi.json" }, "JSON"), "."]);
    target.replaceChildren(...reference());
  } catch (error) {
    target.replaceChildren(element("p", { class: "error" }, `Cannot show the API description: ${error.message}`));
  }
  target.removeAttribute("aria-busy");
  // The target of the URL's fragment did not exist when the page was loaded.
  if (location.hash) document.querySelector(`#${CSS.escape(location.hash.slice(1))}`)?.scrollIntoView();
}

start();
