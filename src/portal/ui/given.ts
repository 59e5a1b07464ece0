import { html } from 'hono/html';
import type { Child } from 'hono/jsx';

/**
 * A value for the components within `Given`, which read it by `given`.
 * @throws Error, when one of them waits: another page's value could be there by then
 */
export function context<T>(usual: T) {
  const values = [usual];
  const Given = ({ value, children }: { value: T; children: Child }) => {
    values.push(value);
    try {
      const made = html`${children}`;
      if (made instanceof Promise) throw new Error('A component of a page waits for something');
      return made;
    } finally {
      values.pop();
    }
  };
  return { Given, given: () => values.at(-1) as T }; // `usual` at least
}
