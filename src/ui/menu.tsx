import type { Context } from '../core/platform/http/context.ts';
import { added, type Tab } from './added.ts';
import type { IconName } from './icon-names.ts';
import type { Attention } from './read/attention.ts';

/** A page in the menu; `short` is its name on a phone, `counts` what needs attention. */
export type MenuLink = {
  href: string;
  name: string;
  icon: IconName;
  short?: string;
  counts?: keyof Attention;
};

export const settingsPath = '/portal/settings';

/** The tabs of the settings. */
export const tabsOf = (c: Context): Tab[] => [
  { href: `${settingsPath}/tokens`, name: 'API Tokens' },
  { href: `${settingsPath}/people`, name: 'People' },
  ...added(c, 'tabs').flat(),
  { href: `${settingsPath}/audit`, name: 'Audit log' },
  { href: `${settingsPath}/account`, name: 'Account' },
];

const link = (
  path: string,
  name: string,
  icon: IconName,
  more: Partial<MenuLink> = {},
): MenuLink => ({
  href: `/portal${path}`,
  ...{ name, icon, ...more },
});

export const menu: { heading?: string; links: MenuLink[] }[] = [
  {
    links: [
      link('', 'Overview', 'layout-dashboard', { short: 'Overview' }),
      link('/accidents', 'Accidents', 'car-front', { short: 'Accidents', counts: 'accidents' }),
      link('/events', 'Safety events', 'shield-alert', { short: 'Events' }),
    ],
  },
  {
    heading: 'Fleet',
    links: [
      link('/vehicles', 'Vehicles', 'truck'),
      link('/drivers', 'Drivers', 'id-card'),
      link('/trips', 'Trips', 'route'),
    ],
  },
  {
    heading: 'Data',
    links: [
      link('/connections', 'Connections', 'plug', { counts: 'connections' }),
      link('/webhooks', 'Webhooks', 'webhook', { short: 'Webhooks', counts: 'webhooks' }),
    ],
  },
  {
    heading: 'Account',
    links: [
      link('/settings', 'Settings', 'settings'),
      { href: '/docs', name: 'API documentation', icon: 'book-open' },
    ],
  },
];

/** The account's name beside the mark, which links to the first page. */
export const Brand = ({ name }: { name: string }) => (
  <a class="brand" href="/portal">
    <Mark />
    <span>
      {name}
      <small>Fleet Data Service</small>
    </span>
  </a>
);

export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="currentColor" />
    <path
      class="bars"
      d="m4.6 24.5 2.5-7h4.4L9 24.5zM11 24.5l4.3-12.3h4.4l-4.3 12.3zM17.4 24.5l6-17h4.4l-6 17z"
    />
  </svg>
);
