import type { Texts } from './components.ts';
import type { Groups } from './document.ts';
import { examples } from './examples.ts';
import * as extras from './extras.ts';
import { words } from './words.ts';

/** What the extras add to the documents, in the order of their names. */
export const added: extras.Documented[] = Object.values(extras);

/** All descriptions and examples. */
export const texts = (): Texts => ({
  words: Object.assign(words(), ...added.map((one) => one.words)),
  examples: Object.assign({}, examples, ...added.map((one) => one.examples)),
});

/** Groups of operations with those that extras add to them, or have with tags of their own. */
export function withAdded(part: 'operations' | 'ofOperators', groups: Groups): Groups {
  const all = { ...groups };
  for (const { tags = {}, [part]: operations = {} } of added)
    for (const [tag, more] of Object.entries(operations)) {
      const [about, known] = all[tag] ?? [tags[tag] ?? '', {}];
      all[tag] = [about, { ...known, ...more }];
    }
  return all;
}
