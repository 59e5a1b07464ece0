import { Hono } from 'hono';
import type { Child } from 'hono/jsx';
import { validate as isUuid } from 'uuid';
import { type App, by, type Context, seeOther } from '../../core/platform/http/context.ts';
import { capital } from '../../core/platform/text.ts';
import { counted } from '../../texts/words.ts';
import { added, type Pages } from '../../ui/added.ts';
import { Icon, LinkButton } from '../../ui/buttons.tsx';
import { Find } from '../../ui/forms/forms.tsx';
import type { IconName } from '../../ui/icon-names.ts';
import { page } from '../../ui/layout.tsx';
import { driverColumns, vehicleColumns } from '../../ui/lists/columns.tsx';
import { addressOf, typedIn } from '../../ui/lists/filters.tsx';
import { driverPath, vehiclePath } from '../../ui/lists/records.tsx';
import { Empty } from '../../ui/parts.tsx';
import { role } from '../../ui/session/rights.ts';
import { type Column, Pager, Table, TablePanel } from '../../ui/table.tsx';
import { findAny } from './find-any.ts';
import { findByName, listByName, matchFleet, type NamedItem } from './search.ts';

const perPage = 50;

type Kind = 'vehicle' | 'driver';

const kinds: { [K in Kind]: { icon: IconName; hint: string; columns: Column<NamedItem<K>>[] } } = {
  vehicle: { icon: 'truck', hint: 'Name, plate or VIN', columns: vehicleColumns },
  driver: { icon: 'id-card', hint: 'Name', columns: driverColumns },
};

const listVehicles = (c: Context) => pageByName(c, 'vehicle', vehicleColumns, (items) => items);

const listDrivers = (c: Context) => pageByName(c, 'driver', driverColumns, (items) => items);

/** The page of vehicles or drivers by name, with `rows` made of what a page has, and something `above` the whole list. */
export async function pageByName<K extends Kind, Row>(
  c: Context,
  kind: K,
  columns: Column<Row>[],
  rows: (items: NamedItem<K>[]) => Row[] | Promise<Row[]>,
  above?: Child,
) {
  const { icon, hint } = kinds[kind];
  const many = `${kind}s`;
  const title = capital(many);
  const path = `/portal/${many}`;
  const { q = '', after = '' } = typedIn(c, ['q', 'after']);
  const { items, next }: { items: NamedItem<K>[]; next?: string } = q
    ? { items: (await findByName(...by(c), q, perPage))[kind] }
    : await listByName(...by(c), kind, {
        after: isUuid(after) ? after.toLowerCase() : undefined,
        limit: perPage,
      });
  const isPart = q !== '' || after !== '';
  const shown = items.slice(0, perPage);
  const isCut = items.length > perPage;
  return page(
    c,
    {
      title,
      lead: (
        <span data-fresh="lead" role="status">
          {q
            ? `${title} that match “${q}”: ${isCut ? `the first ${perPage}` : items.length || 'none'}.`
            : `${title} of all connections, by name.`}
        </span>
      ),
      actions: (
        <div class="actions">
          <LinkButton href={`${path}.csv`} name="Export CSV" icon="download" />
        </div>
      ),
    },
    <section class="panel" aria-label={title}>
      <Find path={path} q={q} hint={hint} button="Find" look="panel-head find" live />
      <div data-fresh={many}>
        {!isPart && above}
        {shown.length > 0 ? (
          <>
            <Table caption={title} stacked columns={columns} items={await rows(shown)} />
            <Pager
              count={
                isCut
                  ? `The first ${perPage}; type more to narrow the list`
                  : counted(items.length, kind, many)
              }
              first={isPart ? path : undefined}
              next={next && addressOf(path, { after: next })}
            />
          </>
        ) : (
          <Empty
            icon={icon}
            title={isPart ? `No ${many} found` : `No ${many} yet`}
            text={
              isPart
                ? 'Type the start of a word of the name.'
                : 'They appear here once a connection has sent them.'
            }
            action={isPart && <LinkButton href={path} name={`All ${many}`} />}
          />
        )}
      </div>
      <script src="/portal/filters.js" defer></script>
    </section>,
  );
}

const maxFound = 20;

/** Finds things by id or name. The only match is shown at once. */
async function search(c: Context) {
  const { q = '' } = typedIn(c, ['q']);
  if (isUuid(q)) {
    const found = await pathOfId(c, q.toLowerCase());
    if (found) return seeOther(c, found);
  }
  const found =
    q && !isUuid(q) ? await findByName(...by(c), q, maxFound) : { vehicle: [], driver: [] };
  const [only, another] = [...found.vehicle.map(vehiclePath), ...found.driver.map(driverPath)];
  if (only && !another) return seeOther(c, only);
  return page(
    c,
    { title: 'Search', lead: q ? `Results for “${q}”.` : undefined },
    <>
      <Find path="/portal/search" q={q} hint={anyHint} button="Search" look="find" />
      <Results kind="vehicle" items={found.vehicle} q={q} />
      <Results kind="driver" items={found.driver} q={q} />
      {q && !only && (
        <section class="panel" aria-label="Result">
          <Empty
            icon="search"
            title={`Nothing matches “${q}”`}
            text="Search by the start of a word of a name, or of a plate, or by a whole VIN, event ID or Delivery-Id."
          />
        </section>
      )}
    </>,
  );
}

const maxNames = 5;

/** The names below the menu's search that match what is typed there: a part of a page. */
async function searchNames(c: Context) {
  const { q = '' } = typedIn(c, ['q']);
  const { vehicle, driver } = await findByName(...by(c), q, maxNames);
  const links = [
    ...vehicle.slice(0, maxNames).map((one) => [vehiclePath(one), one, 'truck'] as const),
    ...driver.slice(0, maxNames).map((one) => [driverPath(one), one, 'id-card'] as const),
  ];
  return c.html(
    <ul>
      {links.map(([href, { name, connectionName }, icon]) => (
        <li>
          <a href={href}>
            <Icon name={icon} />
            <span class="truncate">
              {name} <span class="sub">{connectionName}</span>
            </span>
          </a>
        </li>
      ))}
      {links.length === 0 && <li class="sub px-2.5 py-1.5">No matches</li>}
    </ul>,
  );
}

const anyHint = 'Vehicle, plate, VIN, driver, event ID or Delivery-Id';

async function pathOfId(c: Context, id: string): Promise<string | undefined> {
  const [[kind], ...others] = await Promise.all([
    findAny(...by(c), id),
    ...added(c, 'pathOfId').map((find) => find(...by(c), id)),
  ]);
  return kind ? `/portal/${kind}s/${id}` : others.find((path) => path !== undefined);
}

function Results<K extends Kind>(props: { kind: K; items: NamedItem<K>[]; q: string }) {
  const { kind, items, q } = props;
  const many = `${kind}s`;
  return (
    <TablePanel
      title={capital(many)}
      side={items.length > maxFound && <a href={addressOf(`/portal/${many}`, { q })}>Show more</a>}
      stacked
      columns={kinds[kind].columns}
      items={items.slice(0, maxFound)}
    />
  );
}

const routes = new Hono<App>()
  .get('/vehicles', role('viewer'), listVehicles)
  .get('/drivers', role('viewer'), listDrivers)
  .get('/search', role('viewer'), search)
  .get('/search/names', role('viewer'), searchNames);

export const pages: Pages = { routes, matchFleet };
