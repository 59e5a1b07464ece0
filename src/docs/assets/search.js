// One search over guides and reference.
const box = document.querySelector('.docs-search');
const most = 12;

const field = Object.assign(document.createElement('label'), { className: 'search-field' });
const input = Object.assign(document.createElement('input'), {
  type: 'search',
  placeholder: 'Search',
  autocomplete: 'off',
  spellcheck: false,
});
input.setAttribute('aria-label', 'Search guides and reference');
input.setAttribute('aria-keyshortcuts', '/');
const key = Object.assign(document.createElement('kbd'), { textContent: '/', ariaHidden: 'true' });
field.append(box.querySelector('svg'), input, key);

const found = Object.assign(document.createElement('div'), {
  className: 'docs-found',
  hidden: true,
});
const said = document.createElement('p');
said.setAttribute('role', 'status');
const list = document.createElement('ul');
found.append(said, list);
box.replaceChildren(field, found);

let loading;
/** Loads the program and the index, once. After a failure the next key tries again. */
function load() {
  loading ??= Promise.all([
    import('/docs/minisearch.js'),
    fetch('/docs/search.json').then((reply) => reply.json()),
  ])
    .then(([{ default: MiniSearch }, { options, index }]) => MiniSearch.loadJS(index, options))
    .catch((error) => {
      loading = undefined;
      throw error;
    });
  return loading;
}

const how = {
  prefix: true,
  fuzzy: (word) => (word.length > 4 ? 0.2 : false),
  boost: { title: 4, page: 2 },
};

/** What fits all words, or if nothing does, some of them. */
function search(index, words) {
  const all = index.search(words, { ...how, combineWith: 'AND' });
  return all.length > 0 ? all : index.search(words, how);
}

async function update() {
  const words = input.value.trim();
  if (!words) return close();
  let results;
  try {
    results = search(await load(), words);
  } catch {
    show('Search could not be loaded. Try again.', []);
    return;
  }
  if (words === input.value.trim()) show(summaryOf(results.length), results.slice(0, most));
}

const summaryOf = (count) =>
  count === 0
    ? 'Nothing found. Try other words.'
    : count > most
      ? `The best ${most} of ${count} results`
      : `${count} ${count === 1 ? 'result' : 'results'}`;

function show(summary, results) {
  said.textContent = summary;
  list.replaceChildren(...results.map(item));
  found.hidden = false;
}

function item({ href, title, page, excerpt }) {
  const link = Object.assign(document.createElement('a'), { href });
  link.append(
    Object.assign(document.createElement('strong'), { textContent: title }),
    Object.assign(document.createElement('small'), { textContent: page === title ? '' : page }),
    Object.assign(document.createElement('small'), { textContent: excerpt }),
  );
  link.addEventListener('click', close);
  const row = document.createElement('li');
  row.append(link);
  return row;
}

function close() {
  found.hidden = true;
}

/** Moves the focus among the field and the results. */
function move(by) {
  const stops = [input, ...list.querySelectorAll('a')];
  stops[stops.indexOf(document.activeElement) + by]?.focus();
}

input.addEventListener('focus', () => load().catch(() => {}), { once: true });
input.addEventListener('input', update);
input.addEventListener('click', update);
box.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    close();
    input.focus();
  } else if (event.key === 'ArrowDown') move(1);
  else if (event.key === 'ArrowUp') move(-1);
  else if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click();
  else return;
  event.preventDefault();
});
box.addEventListener('focusout', ({ relatedTarget }) => {
  if (relatedTarget && !box.contains(relatedTarget)) close();
});
document.addEventListener('click', ({ target }) => {
  if (!box.contains(target)) close();
});
document.addEventListener('keydown', (event) => {
  const typing = event.target.closest('input, textarea, select, [contenteditable]');
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
});
