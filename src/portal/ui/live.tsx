import type { Child } from 'hono/jsx';

/**
 * A part of a page that is replaced when something has changed: `live.js` asks whether it has, and fetches the page. Its
 * id is on the page whatever it shows.
 */
export const Live = (props: { id: string; class?: string; children: Child }) => (
  <div id={props.id} class={props.class ?? 'stack'} data-live>
    {props.children}
  </div>
);
