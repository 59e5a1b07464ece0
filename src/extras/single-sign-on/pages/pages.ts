import { Hono } from 'hono';
import { hourMs } from '../../../core/platform/durations.ts';
import type { App } from '../../../core/platform/http/context.ts';
import type { Pages } from '../../../ui/added.ts';
import { limited, role } from '../../../ui/session/rights.ts';
import { providerSessionMs } from '../save.ts';
import { mustUseProvider } from '../single-sign-on.ts';
import { comeBack, goToProvider, settingsPath } from './at-provider.tsx';
import * as settings from './settings.tsx';

export const pages: Pages = {
  open: new Hono<App>().get('/sso/:account', comeBack),
  routes: new Hono<App>()
    .get('/settings/sign-in', role('admin'), settings.show)
    .post('/settings/sign-in', role('admin'), limited, settings.save)
    .get('/settings/sign-in/test', role('admin'), limited, settings.test),
  tabs: [{ href: settingsPath, name: 'Sign-in' }],
  signIn: {
    begin: goToProvider,
    excluded: mustUseProvider,
    byLink: 'With single sign-on, only one admin can use one.',
    stays: `with single sign-on for ${providerSessionMs / hourMs} hours`,
  },
};
