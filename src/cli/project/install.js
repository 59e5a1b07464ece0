import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Installs the packages of package-lock.json, unless all of them are installed. Plain JavaScript without other
 * files: it runs before there are any packages, on whatever version of Node this machine has.
 */
if (!isInstalled()) {
  console.log('Installing packages. The first time, this takes about a minute …');
  const npm = process.env.npm_execpath;
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  // What a registry has for other systems must not change the lock file.
  if (isLocked()) args.push('--no-save');
  // npm's own script, for Windows cannot start `npm` without a shell.
  const { status } = npm
    ? spawnSync(process.execPath, [npm, ...args], { stdio: 'inherit' })
    : spawnSync('npm', args, { stdio: 'inherit' });
  process.exit(status ?? 1);
}

/** Whether the lock file is about what package.json asks for. */
function isLocked() {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const project = packagesOf('package-lock.json')?.[''];
  const asked = JSON.stringify([dependencies, devDependencies]);
  return asked === JSON.stringify([project?.dependencies, project?.devDependencies]);
}

/** Compares what the lock file resolved with what npm recorded after installing. */
function isInstalled() {
  const wanted = packagesOf('package-lock.json');
  const installed = packagesOf('node_modules/.package-lock.json');
  if (!wanted || !installed || !isLocked()) return false;
  const { '': _, ...packages } = wanted;
  return Object.entries(packages).every(([path, one]) =>
    installed[path]
      ? installed[path].version === one.version
      : one.optional && !isForThisSystem(one),
  );
}

function packagesOf(lock) {
  try {
    return JSON.parse(readFileSync(lock, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Whether an optional package is certainly needed here. Which libc this system has is left to npm. */
function isForThisSystem({ os, cpu, libc }) {
  return os?.includes(process.platform) && cpu?.includes(process.arch) && !libc;
}
