import { html } from 'hono/html';
import type { Child } from 'hono/jsx';

/** A value for the components within `Given`, which read it by `given`. None of them may wait for anything. */
export function context<T>(usual: T) {
  const values = [usual];
  const Given = ({ value, children }: { value: T; children: Child }) => {
    values.push(value);
    try {
      return html`${children}`;
    } finally {
      values.pop();
    }
  };
  return { Given, given: () => values.at(-1) as T }; // `usual` at least
}
