import MarkdownIt, { type Token } from 'markdown-it';
import { createCssVariablesTheme, createHighlighter, type ShikiTransformer } from 'shiki';

/** A heading of a page: its tag, id and title; the first paragraph below it, and all words. */
export type Heading = { tag: string; id: string; title: string; lead: string; text: string };

export type Rendered = { html: string; headings: Heading[] };

/** A renderer in which headings link to themselves and adjacent samples are one group. */
export async function guideRenderer(): Promise<(markdown: string) => Rendered> {
  const code = await codeRenderer();
  const markdown = new MarkdownIt();
  const { rules } = markdown.renderer;
  rules.fence = (tokens, at) => {
    const { info = '', content = '' } = tokens[at] ?? {};
    const html = code(content, readFence(info));
    const before = isSample(tokens[at - 1]);
    const after = isSample(tokens[at + 1]);
    if (!isSample(tokens[at]) || !(before || after)) return html;
    return `${before ? '' : '<div class="samples">\n'}${html}${after ? '' : '</div>\n'}`;
  };
  rules.table_open = () =>
    '<div class="panel" role="group" aria-label="Table" tabindex="0"><table class="data data-cards">\n';
  rules.table_close = () => '</table></div>\n';
  // One box for a cell's content: on a phone it is beside the cell's name.
  rules.td_open = (tokens, at, options, _, self) =>
    `${self.renderToken(tokens, at, options)}<span>`;
  rules.td_close = () => '</span></td>\n';
  rules.heading_open = (tokens, at) => {
    const { tag } = tokens[at] ?? { tag: 'h2' };
    const id = idOf(textOf(tokens[at + 1]));
    return tag === 'h1' ? `<h1 id="${id}">` : `<${tag} id="${id}"><a href="#${id}">`;
  };
  rules.heading_close = (tokens, at) => {
    const { tag } = tokens[at] ?? { tag: 'h2' };
    return tag === 'h1' ? '</h1>\n' : `</a></${tag}>\n`;
  };
  return (text) => {
    const tokens = markdown.parse(text, {});
    labelCells(tokens);
    return {
      html: markdown.renderer.render(tokens, markdown.options, {}),
      headings: headingsOf(tokens),
    };
  };
}

const isSample = (token: Token | undefined): boolean =>
  token?.type === 'fence' && readFence(token.info).name !== undefined;

/** Labels each cell with its column's head: on a phone rows are cards. */
function labelCells(tokens: Token[]): void {
  let heads: string[] = [];
  let column = 0;
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'table_open') heads = [];
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'th_open') heads.push(textOf(tokens[at + 1]));
    if (token.type !== 'td_open') continue;
    const head = heads[column++] ?? '';
    if (column === 1) token.attrSet('class', 'card-title');
    else if (textOf(tokens[at + 1])) token.attrSet('data-label', head);
  }
}

export function headingsOf(tokens: Token[]): Heading[] {
  const headings: Heading[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const title = textOf(tokens[at + 1]);
      headings.push({ tag: token.tag, id: idOf(title), title, lead: '', text: '' });
    }
    const heading = headings.at(-1);
    if (heading && token.type === 'fence') heading.text += `${token.info} `; // with an operation's method and path
    if (!heading || token.type !== 'inline' || tokens[at - 1]?.type === 'heading_open') continue;
    if (tokens[at - 1]?.type === 'paragraph_open') heading.lead ||= textOf(token);
    heading.text += `${textOf(token)} `;
  }
  return headings;
}

const textOf = (inline: Token | undefined): string =>
  (inline?.children ?? [])
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
    .join('');

/** A heading's id, as GitHub makes it, so that a link works on both. */
const idOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

const theme = createCssVariablesTheme({ name: 'docs' });
const languages = {
  bash: 'curl',
  ts: 'TypeScript',
  python: 'Python',
  json: 'JSON',
  text: '',
} as const;
type Language = keyof typeof languages;
const isLanguage = (name: string): name is Language => Object.hasOwn(languages, name);

type Fence = { language: Language; name: string | undefined };

/** Reads a fence's info string, such as `ts receiver.ts`. @throws Error */
export function readFence(info: string): Fence {
  const [, language = '', name] = /^(\S*)\s*(.+)?$/.exec(info.trim()) ?? [];
  if (!isLanguage(language))
    throw new Error(`No page shows "${language}": use one of ${Object.keys(languages).join(', ')}`);
  return { language, name };
}

/** Returns a renderer of code whose colours are classes, as the pages' policy requires. */
async function codeRenderer(): Promise<(code: string, fence: Fence) => string> {
  const highlighter = await createHighlighter({
    themes: [theme],
    langs: Object.keys(languages).filter((name) => name !== 'text'),
  });
  return (code, { language, name }) => {
    const html = highlighter.codeToHtml(code.trimEnd(), {
      tokenizeTimeLimit: 0, // otherwise a busy machine gives up in the middle of a line
      lang: language,
      theme: 'docs',
      transformers: [classes],
    });
    const title = name ?? languages[language];
    const caption = title && `<figcaption>${title}</figcaption>`;
    return `<figure class="code" data-language="${languages[language]}">${caption}${html}</figure>\n`;
  };
}

/** Colours that pages do not show, to reduce their size. */
const plain = ['foreground', 'punctuation'];

const classes: ShikiTransformer = {
  pre(node) {
    delete node.properties.style;
  },
  span(node) {
    const colour = /--shiki-(?:token-)?([a-z-]+)/.exec(String(node.properties.style))?.[1];
    delete node.properties.style;
    if (colour && !plain.includes(colour)) node.properties.class = `of-${colour}`;
  },
  code(node) {
    const unwrap = (parts: typeof node.children): typeof node.children =>
      parts.flatMap((part) =>
        part.type === 'element' && !/^of-/.test(String(part.properties.class))
          ? unwrap(part.children)
          : [part],
      );
    node.children = unwrap(node.children); // spans for each line and for text in the usual colour
  },
};
