export const mainHome = 'main';

/** The form of a home's name: its bindings end in it, and its credentials carry it. */
export const homeName = /^[a-z][a-z0-9]{0,15}$/;
