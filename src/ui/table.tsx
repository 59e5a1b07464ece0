import type { Child } from 'hono/jsx';
import type { Slice, SliceQuery } from '../core/platform/db/cursor.ts';
import type { Caller } from '../core/platform/db/guard.ts';
import { by, type Context } from '../core/platform/http/context.ts';
import { cursorFor, requestedSlice } from '../core/platform/http/requested-slice.ts';
import { counted } from '../texts/words.ts';
import { Icon } from './buttons.tsx';
import { Empty, Panel } from './parts.tsx';

/*
 * A page with a list declares its table and reads a part of it:
 *
 *     const people = await sliceOn(c, 100, ['person', 'people'], listPortalUsers);
 *     page(c, { title: 'People' }, <TablePanel title="People" stacked columns={columns} {...people} empty={…} />);
 *
 * A list of records with filters and a CSV file is declared as a `RecordList` of `list.tsx`.
 */

/**
 * A column: its head, and the cell of an item. `href` links the row, `more` is below. On a phone,
 * where rows are cards, `look` places a cell, or it has its `label`.
 */
export type Column<T> = {
  head: string;
  look?: string;
  label?: string;
  href?: (item: T) => string;
  more?: (item: T) => Child;
  cell: (item: T) => Child;
};

/** The column that names a row's subject. */
export const naming = <T,>(
  head: string,
  name: (item: T) => Child,
  more?: (item: T) => Child,
): Column<T> => ({
  head,
  look: 'card-title',
  cell: (item) => <strong class="font-medium">{name(item)}</strong>,
  ...(more && { more }),
});

/** The column with a row's buttons. */
export const acting = <T,>(cell: (item: T) => Child): Column<T> => ({
  head: 'Action',
  look: 'end',
  cell,
});

type TableProps<T> = {
  caption: string;
  columns: Column<T>[];
  look?: string;
  labels?: boolean;
  stacked?: boolean;
  items?: T[];
  groups?: { name?: Child; items: T[] }[];
  /** Why there is nothing, and what fills it. */
  empty?: Child | Parameters<typeof Empty>[0];
};

/** How many items are on this page, and the addresses of the first one and of the next. */
type Pages = { count: Child; first?: string | undefined; next?: string | undefined };

/** A panel with a table captioned by its title, and links to other pages; none without items and `empty`. */
export const TablePanel = <T,>(
  props: Parameters<typeof Panel>[0] &
    Omit<TableProps<T>, 'caption'> & { caption?: string; above?: Child; pages?: Pages | undefined },
) =>
  props.items?.length === 0 && !props.empty ? null : (
    <Panel {...props}>
      {props.above}
      <Table caption={props.title} {...props} />
      {props.pages && props.items?.length !== 0 && <Pager {...props.pages} />}
      {props.children}
    </Panel>
  );

/** Reads the slice of a list that the address asks for, and links to the other pages, if there are any. */
export async function sliceOn<T>(
  c: Context,
  limit: number,
  words: [one: string, many: string],
  read: (env: Env, caller: Caller, slice: SliceQuery) => Promise<Slice<T>>,
): Promise<{ items: T[]; pages: Pages | undefined }> {
  const slice = requestedSlice(c, limit);
  const { items, next } = await read(...by(c), slice);
  const { path } = c.req;
  const pages = {
    count: `${counted(items.length, ...words)} on this page`,
    first: slice.after && path,
    next: next && `${path}?cursor=${cursorFor(c, next)}`,
  };
  return { items, pages: pages.first || pages.next ? pages : undefined };
}

/**
 * A table of items, optionally in groups, or `empty`. On a phone rows become cards: with `labels`
 * cells have their column's head as label; with `stacked`, a line each.
 */
export function Table<T>(props: TableProps<T>) {
  const { caption, stacked, labels = stacked, items = [], groups = [{ items }], empty } = props;
  const { look = stacked ? 'data-cards' : 'data-cards data-flow' } = props;
  const columns = labels ? props.columns.map(labelled) : props.columns;
  if (empty && groups.every((group) => group.items.length === 0))
    return <>{typeof empty === 'object' && 'title' in empty ? <Empty {...empty} /> : empty}</>;
  return (
    <table class={`data ${look}`}>
      <caption class="sr-only">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ head, look }) => (
            <th scope="col" class={look?.startsWith('num') ? 'num' : undefined}>
              {look === 'end' ? <span class="sr-only">{head}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      {groups.map(({ name, items }) => (
        <tbody>
          {name && (
            <tr class="group-row">
              <th scope="rowgroup" colspan={columns.length}>
                {name}
              </th>
            </tr>
          )}
          {items.map((item) => (
            <tr title={longTextIn(columns, item)}>
              {columns.map((column) => cellOf(column, item))}
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}

const labelled = <T,>(column: Column<T>): Column<T> =>
  column.href || /card-|end/.test(column.look ?? '') ? column : { label: column.head, ...column };

/** Text that may be cut to two lines. The link that covers a row would hide the titles of its cells. */
function longTextIn<T>(columns: Column<T>[], item: T): string | undefined {
  const texts = columns.flatMap(({ cell, more }) => [cell(item), more?.(item)]);
  const long = texts.filter((text) => typeof text === 'string' && text.length > longText);
  return long.length > 0 ? long.join('\n') : undefined;
}

const longText = 20;

function cellOf<T>({ href, look = href && 'card-title', label, more, cell }: Column<T>, item: T) {
  const below = more?.(item);
  const content = cell(item);
  const isCut = typeof content === 'string' && content !== '';
  const shown =
    isCut || (label && content) ? (
      <span class={isCut ? 'clamp' : undefined}>{content}</span>
    ) : (
      content
    );
  return (
    <td class={look} data-label={label}>
      {href ? (
        <a class="cover" href={href(item)}>
          {shown}
        </a>
      ) : (
        shown
      )}
      {typeof below === 'string' && below !== '' ? <div class="sub clamp">{below}</div> : below}
    </td>
  );
}

/** Links to further entries of a list, and to its beginning. */
export const Pager = ({ count, first, next }: Pages) => (
  <nav class="pager" aria-label="Pages">
    <span>{count}</span>
    <span class="actions">
      {first && (
        <a class="btn btn-sm" href={first}>
          <Icon name="chevron-left" />
          First
        </a>
      )}
      {next && (
        <a class="btn btn-sm" href={next}>
          Next
          <Icon name="chevron-right" />
        </a>
      )}
    </span>
  </nav>
);
