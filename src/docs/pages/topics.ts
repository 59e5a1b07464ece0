import MiniSearch from 'minisearch';
import { type Guide, hrefOf } from './guides.ts';
import type { Rendered } from './markdown.ts';

/** A search result: a section of a guide, or an operation of the API. */
export type Topic = {
  page: string;
  title: string;
  href: string;
  lead: string;
  text: string;
};

/** The sections of a guide; the first is the guide itself. */
export const topicsOf = (guide: Guide, { headings }: Rendered): Topic[] =>
  headings.map(({ tag, id, title, lead, text }) => ({
    page: guide.title,
    title,
    href: tag === 'h1' ? hrefOf(guide) : `${hrefOf(guide)}#${id}`,
    lead,
    text,
  }));

const options = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'href', 'excerpt'],
};

/** The index of all topics for `src/docs/assets/search.js`: MiniSearch's options, and its index. */
export function searchIndex(topics: Topic[]): string {
  const index = new MiniSearch<Topic & { id: number; excerpt: string }>(options);
  index.addAll(topics.map((topic, id) => ({ ...topic, id, excerpt: excerptOf(topic.lead) })));
  return JSON.stringify({ options, index });
}

/** The beginning of a text, up to the end of a word. */
const excerptOf = (text: string): string =>
  text.length <= 120 ? text : `${text.slice(0, 120).replace(/\s+\S*$/, '')}…`;
