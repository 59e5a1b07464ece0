import type { Child } from 'hono/jsx';
import type { Context } from '../core/platform/http/context.ts';
import { LinkButton } from './buttons.tsx';
import { page } from './layout.tsx';

/** The only page that shows a secret: the response to the form that made it. `to` is where it leads. */
export const secretPage = (c: Context, said: string, to: string, secret: Child) =>
  page(
    c,
    { title: said, narrow: true },
    <>
      {secret}
      <div class="actions">
        <LinkButton href={to} name="Continue" weight="primary" />
      </div>
    </>,
  );
