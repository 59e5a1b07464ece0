import MarkdownIt, { type Token } from 'markdown-it';
import { codeRenderer, readFence } from './code.ts';

/** A heading of a page: its tag, the id that links lead to, and its text. */
export type Heading = { tag: string; id: string; title: string };

/** A guide as HTML, with its sections. */
export type Rendered = { html: string; sections: Heading[] };

/** Returns how to render a guide: headings can be linked to, tables scroll, and adjacent samples are one group. */
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
  rules.table_open = () => '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n';
  rules.table_close = () => '</table></div>\n';
  rules.heading_open = (tokens, at) => {
    const { tag } = tokens[at] ?? { tag: 'h2' };
    return `<${tag} id="${idOf(textOf(tokens[at + 1]))}">`;
  };
  return (text) => {
    const tokens = markdown.parse(text, {});
    const sections = headingsOf(tokens).filter(({ tag }) => tag === 'h2');
    return { html: markdown.renderer.render(tokens, markdown.options, {}), sections };
  };
}

const isSample = (token: Token | undefined): boolean =>
  token?.type === 'fence' && readFence(token.info).name !== undefined;

/** The headings of a page, in their order. */
export const headingsOf = (tokens: Token[]): Heading[] =>
  tokens.flatMap(({ type, tag }, at) => {
    const title = textOf(tokens[at + 1]);
    return type === 'heading_open' ? [{ tag, id: idOf(title), title }] : [];
  });

const textOf = (inline: Token | undefined): string =>
  (inline?.children ?? []).map(({ content }) => content).join('');

/** A heading's id: the one that GitHub gives it, so that a link holds on both. */
const idOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
