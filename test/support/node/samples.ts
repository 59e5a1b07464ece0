import MarkdownIt from 'markdown-it';
import { readGuides } from '#src/docs/pages/guides.ts';
import { readFence } from '#src/docs/pages/markdown.ts';

const programs = ['bash', 'ts', 'python'];

/** A fenced block; the name of one that has none is empty. */
export type Block = { language: string; name: string; code: string };

/** The fenced blocks of a page, from top to bottom. */
export const blocksOf = (markdown: string): Block[] =>
  new MarkdownIt()
    .parse(markdown, {})
    .filter(({ type }) => type === 'fence')
    .map(({ info, content }) => {
      const { language, name = '' } = readFence(info);
      return { language, name, code: content };
    });

const blocks = readGuides().flatMap(({ markdown }) => blocksOf(markdown));

/** Whether a reader runs a block: one of curl, TypeScript or Python. */
export const isSample = ({ language }: Block): boolean => programs.includes(language);

export const samples = blocks.filter(isSample);

/** Every block of JSON in the guides. */
export const jsonBlocks = blocks
  .filter(({ language }) => language === 'json')
  .map(({ code }) => code);

/** The samples of receivers and webhooks, which have tests of their own. */
export const isOfReceivers = ({ name }: Block): boolean =>
  /receiver|webhook|knock|register|provider|reconcile|deliveries|missed|replay|pause/.test(name);
