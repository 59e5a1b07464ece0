import type { Child } from 'hono/jsx';
import { validate as isUuid } from 'uuid';
import { findByName, listByName, type NamedItem } from '../../fleet/names.ts';
import type { Context } from '../../platform/http/context.ts';
import { counted } from '../../webhooks/alerts/words.ts';
import { typedIn } from '../ui/browse.tsx';
import { LinkButton } from '../ui/buttons.tsx';
import { capital } from '../ui/format.ts';
import { Find } from '../ui/forms.tsx';
import type { IconName } from '../ui/icon-names.ts';
import { page } from '../ui/layout.tsx';
import { Empty } from '../ui/parts.tsx';
import { driverPath, vehiclePath } from '../ui/records.tsx';
import { State } from '../ui/states.tsx';
import { type Column, Pager, Table } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';

/** How many rows a page has, and a search. */
const perPage = 50;

type Kind = 'vehicle' | 'driver';

/** An alphabetical list with a search by prefix. */
type ListByName<K extends Kind> = {
  kind: K;
  icon: IconName;
  hint: string;
  found: (found: Awaited<ReturnType<typeof findByName>>) => NamedItem<K>[];
  table: (props: { items: NamedItem<K>[] }) => Child;
};

export const listVehicles = (c: Context) =>
  pageByName(c, {
    kind: 'vehicle',
    icon: 'truck',
    hint: 'Name, plate or VIN',
    found: ({ vehicles }) => vehicles,
    table: VehicleTable,
  });

export const listDrivers = (c: Context) =>
  pageByName(c, {
    kind: 'driver',
    icon: 'id-card',
    hint: 'Name',
    found: ({ drivers }) => drivers,
    table: DriverTable,
  });

async function pageByName<K extends Kind>(c: Context, { kind, icon, hint, found, table }: ListByName<K>) {
  const title = `${capital(kind)}s`;
  const path = `/portal/${kind}s`;
  const q = typedIn(c, 'q');
  const after = c.req.query('after')?.toLowerCase();
  const { items, next }: { items: NamedItem<K>[]; next?: string } = q
    ? { items: found(await findByName(c.env, c.get('caller'), q, perPage)) }
    : await listByName(c.env, c.get('caller'), kind, {
        after: after !== undefined && isUuid(after) ? after : undefined,
        limit: perPage,
      });
  const shown = items.slice(0, perPage);
  const many = title.toLowerCase();
  const isPart = q !== '' || Boolean(after);
  return page(
    c,
    { title, lead: q ? `${title} that match “${q}”.` : `${title} of all connections, by name.` },
    <section class="panel" aria-label={title}>
      <Find path={path} q={q} hint={hint} button="Find" look="panel-head find" />
      {items.length > 0 ? (
        <>
          {table({ items: shown })}
          <Pager
            count={
              items.length > perPage
                ? `The first ${perPage}; type more to see fewer`
                : counted(shown.length, kind, many)
            }
            newest={isPart ? path : undefined}
            older={next && `${path}?after=${next}`}
            names={[q ? `All ${many}` : 'First', 'Next']}
          />
        </>
      ) : isPart ? (
        <Empty
          icon={icon}
          title={q ? `No ${kind} matches “${q}”` : `No more ${many}`}
          action={<LinkButton href={path} name={`All ${many}`} />}
        >
          {q && 'Names match from the start.'}
        </Empty>
      ) : (
        <Empty icon={icon} title={`No ${many} yet`}>
          They appear here once a connection has sent them.
        </Empty>
      )}
    </section>,
  );
}

type Vehicle = NamedItem<'vehicle'>;
type Driver = NamedItem<'driver'>;

export const VehicleTable = ({ items }: { items: Vehicle[] }) => (
  <Table caption="Vehicles" stacked columns={vehicleColumns} items={items} />
);

const vehicleColumns: Column<Vehicle>[] = [
  {
    head: 'Vehicle',
    href: vehiclePath,
    cell: ({ name }) => name,
    more: ({ groups, status }) => [
      ' ',
      <span class="sub">{groups.join(', ')}</span>,
      status === 'inactive' && [' ', <State mood="quiet">Inactive</State>],
    ],
  },
  { head: 'VIN', cell: ({ vin }) => vin && <code>{vin}</code> },
  { head: 'Plate', cell: ({ licensePlate }) => licensePlate },
  { head: 'Make and model', label: 'Model', cell: modelOf },
  { head: 'Connection', cell: ({ connectionName }) => connectionName },
  { head: 'Last seen', cell: ({ lastLocation: seen }) => seen && <Ago at={seen.timestamp} /> },
];

/** "Freightliner Cascadia, 2024", as far as known. */
export function modelOf({ make, model, year }: Pick<Vehicle, 'make' | 'model' | 'year'>): string {
  return [[make, model].filter(Boolean).join(' '), year].filter(Boolean).join(', ');
}

export const DriverTable = ({ items }: { items: Driver[] }) => (
  <Table caption="Drivers" stacked columns={driverColumns} items={items} />
);

const driverColumns: Column<Driver>[] = [
  {
    head: 'Driver',
    href: driverPath,
    cell: ({ name }) => name,
    more: ({ status }) => status === 0 && [' ', <State mood="quiet">Inactive</State>],
  },
  { head: 'Email', cell: ({ email }) => email },
  { head: 'Phone', cell: ({ phone }) => phone },
  { head: 'License', cell: licenseOf },
  { head: 'Connection', cell: ({ connectionName }) => connectionName },
];

/** "PA 99-123-4567", as far as known. */
export function licenseOf(driver: Pick<Driver, 'licenseState' | 'licenseNumber'>): string {
  return [driver.licenseState, driver.licenseNumber].filter(Boolean).join(' ');
}
