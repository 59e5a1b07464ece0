import { createCssVariablesTheme, createHighlighter, type ShikiTransformer } from 'shiki';

const theme = createCssVariablesTheme({ name: 'docs' });
const languages = { bash: 'curl', ts: 'TypeScript', python: 'Python', json: 'JSON', text: '' } as const;
type Language = keyof typeof languages;
const isLanguage = (name: string): name is Language => Object.hasOwn(languages, name);

/** What a fenced block is: its language, and its file name when it is a sample that runs. */
export type Fence = { language: Language; name: string | undefined };

/** Reads a fence's info string: `ts receiver.ts`, or what else is to stand above it. @throws Error for a language that no page shows */
export function readFence(info: string): Fence {
  const [, language = '', name] = /^(\S*)\s*(.+)?$/.exec(info.trim()) ?? [];
  if (!isLanguage(language))
    throw new Error(`No page shows "${language}": use one of ${Object.keys(languages).join(', ')}`);
  return { language, name };
}

/** Loads the grammars. Returns how to turn code into HTML whose colours are classes, as the pages' policy requires. */
export async function codeRenderer(): Promise<(code: string, fence: Fence) => string> {
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

const classes: ShikiTransformer = {
  pre(node) {
    delete node.properties.style;
  },
  span(node) {
    const colour = /--shiki-(?:token-)?([a-z-]+)/.exec(String(node.properties.style))?.[1];
    delete node.properties.style;
    if (colour && colour !== 'foreground') node.properties.class = `of-${colour}`;
  },
};
