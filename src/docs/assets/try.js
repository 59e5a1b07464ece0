// The reference can be read without this. It puts a form below an operation that sends it to this host; what is typed
// stays in the page.
const operation = /^(GET|POST|PUT|DELETE) (\/\S*)$/;
let token = '';

let loading;
/** Loads the document behind the page, once. After a failure the next try loads it again. */
function load() {
  loading ??= fetch('/openapi.json')
    .then((reply) => reply.json())
    .catch((error) => {
      loading = undefined;
      throw error;
    });
  return loading;
}

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

for (const figure of document.querySelectorAll('figure.code')) {
  const [, method, path] = operation.exec(figure.querySelector('figcaption').textContent) ?? [];
  if (!method) continue;
  const button = element('button', {
    type: 'button',
    className: 'btn btn-sm',
    textContent: 'Try it',
  });
  button.setAttribute('aria-label', `Try it: ${method} ${path}`);
  button.addEventListener('click', async () => {
    button.disabled = true;
    const document = await load().catch(() => undefined);
    button.disabled = false;
    if (!document) {
      button.textContent = 'It could not be loaded. Try again';
      return;
    }
    const form = formFor(method, path, document);
    const close = element('button', {
      type: 'button',
      className: 'btn btn-ghost',
      textContent: 'Close',
    });
    close.addEventListener('click', () => {
      form.replaceWith(button);
      button.focus();
    });
    form.querySelector('.actions').append(close);
    button.replaceWith(form);
    form.querySelector('input, textarea, button').focus();
  });
  figure.after(button);
}

let count = 0;
/** A field with its label, as the form's data has it under `name`. */
function fieldFor(name, label, control, hint) {
  const id = `try-${++count}`;
  Object.assign(control, {
    id,
    name,
    className: control.localName === 'select' ? 'select' : 'input',
  });
  const explained = element('p', { className: 'hint', id: `${id}-hint`, textContent: hint });
  control.setAttribute('aria-describedby', explained.id);
  return element(
    'div',
    { className: 'field' },
    element('label', { htmlFor: id, textContent: label }),
    control,
    explained,
  );
}

function formFor(method, path, { paths, components }) {
  const { summary, security, parameters = [], requestBody } = paths[path][method.toLowerCase()];
  const resolved = parameters.map((one) =>
    one.$ref ? components.parameters[one.$ref.split('/').at(-1)] : one,
  );
  const sent = element('div');
  sent.setAttribute('role', 'status');
  const form = element(
    'form',
    { className: 'try', ariaLabel: summary },
    ...(security.length > 0 ? [tokenField()] : []),
    ...resolved.map((parameter) =>
      fieldFor(
        `${parameter.in} ${parameter.name}`,
        parameter.required ? `${parameter.name} (required)` : parameter.name,
        controlFor(parameter),
        parameter.description.replaceAll('`', ''),
      ),
    ),
    ...(requestBody ? [bodyField(requestBody)] : []),
    element(
      'div',
      { className: 'actions' },
      element('button', { className: 'btn btn-primary', textContent: 'Send' }),
    ),
    sent,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    sent.replaceChildren('Sending …');
    sent.replaceChildren(...(await send(method, path, new FormData(form))));
  });
  return form;
}

function tokenField() {
  const input = element('input', {
    type: 'password',
    placeholder: 'fds_…',
    value: token,
    required: true,
  });
  input.autocomplete = 'off';
  input.addEventListener('input', () => {
    token = input.value;
  });
  return fieldFor('token', 'API token', input, 'It is sent to this host, and kept nowhere.');
}

function bodyField({ content }) {
  const text = JSON.stringify(content['application/json'].example, null, 2);
  const area = element('textarea', {
    value: text,
    rows: text.split('\n').length,
    spellcheck: false,
  });
  return fieldFor('body', 'Body', area, 'It changes your account: this is no rehearsal.');
}

function controlFor({ required = false, schema, example }) {
  if (schema.enum) {
    const options = schema.enum.map((value) => element('option', { textContent: value }));
    return element('select', { required }, ...(required ? [] : [element('option')]), ...options);
  }
  const input = element('input', { required, autocomplete: 'off', spellcheck: false });
  // The examples of ids are nobody's.
  if (schema.format === 'uuid') input.placeholder = example ?? '';
  else if (required) input.value = example ?? '';
  return input;
}

/** Sends what the form says. Returns what to show of the answer. */
async function send(method, path, data) {
  const headers = data.has('token') ? { 'x-api-key': data.get('token') } : {};
  const query = new URLSearchParams();
  for (const [key, value] of data) {
    const [place, name] = key.split(' ');
    if (!name || value === '') continue;
    if (place === 'header') headers[name] = value;
    if (place === 'query') query.append(name, value);
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
  }
  const body = data.get('body') ?? undefined;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const address = query.size > 0 ? `${path}?${query}` : path;
  const began = performance.now();
  try {
    const reply = await fetch(address, { method, headers, body });
    const text = await reply.text();
    const took = Math.round(performance.now() - began);
    return [answer(`${reply.status} in ${took} ms`, indented(text))];
  } catch {
    const textContent =
      'It could not be sent. Look for unusual characters in the fields, and whether you are online.';
    return [element('p', { className: 'field-error', textContent })];
  }
}

const answer = (caption, text) =>
  element(
    'figure',
    { className: 'code' },
    element('figcaption', { textContent: caption }),
    element('pre', { tabIndex: 0 }, element('code', { textContent: text })),
  );

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
