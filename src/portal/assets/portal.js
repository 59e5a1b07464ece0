// Pages work without this.
document.addEventListener('click', async ({ target }) => {
  const button = target.closest('[data-copy]');
  if (!button) return;
  const { copy, text } = button.dataset;
  await navigator.clipboard.writeText(text ?? document.getElementById(copy).textContent);
  const label = button.querySelector('span');
  button.dataset.name ??= label.textContent;
  label.textContent = 'Copied';
  setTimeout(() => (label.textContent = button.dataset.name), 2000);
});

// A form is sent once, since the response to the first press may have what is shown once. Its buttons wait for the next
// page. The server makes sure of it as well.
const sent = new WeakSet();
const buttonsOf = (form) => form.querySelectorAll('button');
document.addEventListener('submit', (event) => {
  const { target } = event;
  if (target.method !== 'post') return;
  if (sent.has(target)) return event.preventDefault();
  sent.add(target);
  // Not before the form is read: a disabled button would be missing in it.
  setTimeout(() => {
    for (const button of buttonsOf(target)) button.disabled = true;
  });
});
// The page may be shown as it was left, by the button that leads back.
addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[method=post]')) {
    sent.delete(form);
    for (const button of buttonsOf(form)) button.disabled = false;
  }
});

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.includes(`timezone=${encodeURIComponent(zone)}`)) {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser yet
  document.cookie = `timezone=${encodeURIComponent(zone)}; path=/portal; max-age=31536000; samesite=lax`;
}

// Where not all tabs fit, the current one can be seen.
document
  .querySelector('.tabs-line [aria-current]')
  ?.scrollIntoView({ block: 'nearest', inline: 'center' });

// Narrows a list of choices while somebody types.
for (const field of document.querySelectorAll('[data-filter]')) {
  field.hidden = false;
  field.addEventListener('keydown', (event) => event.key === 'Enter' && event.preventDefault());
  field.addEventListener('input', () => {
    const wanted = field.value.trim().toLowerCase();
    for (const choice of document.getElementById(field.dataset.filter).children)
      choice.hidden = !choice.textContent.toLowerCase().includes(wanted);
  });
}

// A slash goes to the search, from wherever nothing is typed.
const search = document.getElementById('find-any');
if (search) {
  search.form.querySelector('kbd').hidden = false;
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input, textarea, select, [contenteditable]');
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || typing) return;
    event.preventDefault();
    const menu = search.closest('[popover]');
    if (search.offsetParent === null) menu.showPopover();
    search.focus();
  });

  // Names that match are listed below it while somebody types.
  const found = document.getElementById('found-any');
  let waiting;
  search.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const q = search.value.trim();
      const address = `/portal/search/names?${new URLSearchParams({ q })}`;
      const reply = q ? await fetch(address).catch(() => undefined) : undefined;
      const names = reply?.ok && !reply.redirected ? await reply.text() : '';
      if (search.value.trim() === q) found.innerHTML = names;
    }, 200);
  });
}
