import type { Added } from '#test/support/added.ts';

export const added: Added = {
  open: ['GET /portal/sso/:account'],
  async mark({ mark, us, admin }) {
    await admin.post('/portal/settings/sign-in', {
      issuer: 'https://login.example.com',
      clientId: mark,
      secret: mark,
      role: '',
      linkUserId: admin.id,
      domains: `d-${us.accountId}.example.com`,
    });
    return {};
  },
};
