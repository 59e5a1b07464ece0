/** The roles of people in an account, from most to least rights. */
export const roles = ['admin', 'member', 'viewer'] as const;

/** An admin may do everything; a member all but manage people and tokens, and export data; a viewer may only read. */
export type Role = (typeof roles)[number];

/** Whether `role` includes the rights of `needed`. */
export const may = (role: Role, needed: Role): boolean => roles.indexOf(role) <= roles.indexOf(needed);
