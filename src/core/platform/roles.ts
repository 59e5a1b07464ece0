/** The roles of people in an account, from most to least rights. */
export const roles = ['admin', 'member', 'viewer'] as const;

/** Admins may do all; members all but people, tokens and exports; viewers may only read. */
export type Role = (typeof roles)[number];

/** Whether `role` includes the rights of `needed`. */
export const may = (role: Role, needed: Role): boolean =>
  roles.indexOf(role) <= roles.indexOf(needed);
