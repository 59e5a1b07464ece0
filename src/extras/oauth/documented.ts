import type { Documented } from '../../docs/openapi/documented.ts';

export const documented: Documented = {
  words: {
    tokenUrl: 'The token endpoint, at an address like that of a receiver.',
    clientId: 'The client.',
    clientSecret: 'Its secret, which is never returned.',
    scope: 'The scope to request.',
    params:
      'More parameters of the token request, such as `audience` or `resource`. Encrypted like the secret; read-only tokens do not see them.',
  },
};
