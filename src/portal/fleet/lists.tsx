import type { Child } from 'hono/jsx';
import { validate as isUuid } from 'uuid';
import type { Context } from '../../platform/http/context.ts';
import { LinkButton, Submit } from '../ui/forms.tsx';
import type { IconName } from '../ui/icons.tsx';
import { page } from '../ui/layout.tsx';
import { Empty, Pager } from '../ui/parts.tsx';

/** How many rows a page has; and of a search, which then says that there are more. */
export const perPage = 50;

/** What is looked for on a page: at most as long as a name. */
export const typedIn = (c: Context): string => (c.req.query('q') ?? '').trim().slice(0, 200);

/** Where the page of a list begins, if not at its beginning. */
export const afterIn = (c: Context): string | undefined => {
  const after = c.req.query('after')?.toLowerCase();
  return after !== undefined && isUuid(after) ? after : undefined;
};

/** A list in the order of the alphabet, with a field to look for what begins with a text. */
export function pageByName(
  c: Context,
  about: { title: string; path: string; icon: IconName; one: string; hint: string; empty: string },
  { items, next }: { items: unknown[]; next?: string | undefined },
  table: Child,
) {
  const { title, path, icon, one, hint, empty } = about;
  const q = typedIn(c);
  const shown = q ? Math.min(items.length, perPage) : items.length;
  const count = `${shown} ${shown === 1 ? one : title.toLowerCase()}`;
  return page(
    c,
    { title, lead: q ? `${title} that match “${q}”.` : `${title} of all connections, by name.` },
    <section class="panel" aria-label={title}>
      <form class="panel-head find" method="get" action={path}>
        <label class="sr-only" for="find">
          {hint}
        </label>
        <input class="input" id="find" type="search" name="q" value={q} placeholder={hint} maxlength={200} />
        <Submit name="Find" weight="plain" />
      </form>
      {items.length > 0 && table}
      {items.length === 0 && (q || c.req.query('after')) && (
        <Empty
          icon={icon}
          title={q ? `No ${one} matches “${q}”` : `No more ${title.toLowerCase()}`}
          action={<LinkButton href={path} name={`All ${title.toLowerCase()}`} />}
        >
          {q && 'Names match from their beginning.'}
        </Empty>
      )}
      {items.length === 0 && !q && !c.req.query('after') && (
        <Empty icon={icon} title={`No ${title.toLowerCase()} yet`}>
          {empty}
        </Empty>
      )}
      {items.length > 0 && (
        <Pager
          count={q && items.length > perPage ? `The first ${perPage}; type more to see fewer` : count}
          newest={q || c.req.query('after') ? path : undefined}
          older={next && `${path}?after=${next}`}
          names={[q ? `All ${title.toLowerCase()}` : 'First', 'Next']}
        />
      )}
    </section>,
  );
}
