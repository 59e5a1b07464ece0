import MiniSearch from 'minisearch';
import type { Topic } from './topics.ts';

const options = {
  fields: ['title', 'page', 'detail', 'text'],
  storeFields: ['title', 'page', 'href', 'detail', 'excerpt'],
};

/** The index of all topics, as `src/docs/assets/search.js` loads it: MiniSearch's options, and what it has indexed. */
export function searchIndex(topics: Topic[]): string {
  const index = new MiniSearch<Topic & { id: number; excerpt: string }>(options);
  index.addAll(topics.map((topic, id) => ({ ...topic, id, excerpt: excerptOf(topic.lead) })));
  return JSON.stringify({ options, index });
}

/** The beginning of a text, up to the end of a word. */
const excerptOf = (text: string): string =>
  text.length <= 120 ? text : `${text.slice(0, 120).replace(/\s+\S*$/, '')}…`;
