/** What the people of an account may do, from most to least; see `may`. */
export const roles = ['admin', 'member', 'viewer'] as const;

/**
 * An admin may do everything; a member everything but invite, change and remove people, and generate and revoke tokens;
 * a viewer only read.
 */
export type Role = (typeof roles)[number];

/** Whether somebody with this role may do what needs `needed`. */
export const may = (role: Role, needed: Role): boolean => roles.indexOf(role) <= roles.indexOf(needed);
