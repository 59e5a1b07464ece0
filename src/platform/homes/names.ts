/** The home that every deployment has. */
export const mainHome = 'main';

/** What a home can be called: its bindings end in it, and its credentials carry it. */
export const homeName = /^[a-z][a-z0-9]{0,15}$/;
