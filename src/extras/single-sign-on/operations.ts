import * as v from 'valibot';
import type { Operation } from '../operation.ts';
import { described } from '../replies.ts';

export const ProviderOff = v.object({
  domains: described(v.array(v.string()), 'Those whose people had to use the provider.'),
});

export const tag = ['Users'] as const;

export const operations = {
  turnOffSingleSignOn: {
    call: 'POST /accounts/:id/single-sign-on/off',
    summary:
      'Let all people of an account sign in by a link, until an admin saves its single sign-on again',
    reply: ProviderOff,
  },
} satisfies Record<string, Operation>;
