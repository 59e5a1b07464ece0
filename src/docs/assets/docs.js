// Pages work without this. It shows one language of a group at a time, copies code, and puts this host into samples.
const samples = document.querySelectorAll('figure.code');

for (const code of document.querySelectorAll('figure.code code'))
  for (const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT); texts.nextNode(); )
    texts.currentNode.data = texts.currentNode.data.replaceAll('https://api.example.com', location.origin);

for (const figure of samples) {
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Copy' });
  button.className = 'copy outline secondary';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(`${figure.querySelector('code').textContent}\n`);
    button.textContent = 'Copied';
  });
  figure.append(button);
}

const show = (language) => {
  for (const group of document.querySelectorAll('.samples')) {
    const figures = [...group.querySelectorAll('figure')];
    if (!figures.some((figure) => figure.dataset.language === language)) continue;
    for (const figure of figures) figure.hidden = figure.dataset.language !== language;
    for (const button of group.querySelectorAll('.languages button'))
      button.setAttribute('aria-pressed', String(button.textContent === language));
  }
};

for (const group of document.querySelectorAll('.samples')) {
  const bar = Object.assign(document.createElement('div'), { className: 'languages', role: 'group' });
  bar.setAttribute('aria-label', 'Language');
  for (const { dataset } of group.querySelectorAll('figure')) {
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: dataset.language,
    });
    button.addEventListener('click', () => {
      localStorage.setItem('docs-language', dataset.language);
      show(dataset.language);
    });
    bar.append(button);
  }
  group.prepend(bar);
  show(group.querySelector('figure').dataset.language);
}
show(localStorage.getItem('docs-language'));
