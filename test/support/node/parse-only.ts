import { Command } from 'commander';

// Loaded before a program, this ends it once it has accepted its arguments.

const { parse } = Command.prototype;
Command.prototype.parse = function (...args) {
  parse.apply(this, args);
  process.exit(0);
};
