// Writes the software bill of materials (CycloneDX, JSON) of the service to standard output, or with `--image` that of
// the container image. npm lists the packages of the lock file: those of production, and those that the dashboard is
// built from. The service alone can also install the embedded database, with the packages of its requirements; the image
// has the image that it is based on. What Debian packages that one has, only a scan of the built image can tell.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly [member: string]: unknown;
}

interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly [member: string]: unknown;
}

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

async function ofNpm(...options: string[]): Promise<Bom> {
  const args = ['sbom', '--sbom-format=cyclonedx', ...options];
  const { stdout } = await run('npm', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as Bom;
}

/** The packages of the embedded database, which runs as a process of its own. */
async function ofEngine(): Promise<Component[]> {
  const text = await readFile(path.join(root, 'src/storage/db/embedded/secantus-requirements.txt'), 'utf8');
  return [...text.matchAll(/^([\w.-]+)==(\S+)/gm)].map(([, name = '', version = '']) => {
    const purl = `pkg:pypi/${name}@${version}`;
    return { 'bom-ref': purl, type: 'library', name, version, purl, scope: 'optional' };
  });
}

async function ofBaseImage(): Promise<Component> {
  const text = await readFile(path.join(root, 'Dockerfile'), 'utf8');
  const [, name = '', version = '', digest = ''] = /NODE_IMAGE=(\w+):([\w.-]+)@sha256:([0-9a-f]{64})/.exec(text) ?? [];
  const purl = `pkg:oci/${name}@sha256:${digest}?tag=${version}`;
  return { 'bom-ref': purl, type: 'container', name, version, purl, hashes: [{ alg: 'SHA-256', content: digest }] };
}

const isImage = process.argv.includes('--image');
const production = await ofNpm('--omit=dev');
const dashboard = await ofNpm('--workspace=prompt-gateway-dashboard');
const { name, version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as Component;
// The image has a Node of its own.
const packages = [...production.components, ...dashboard.components].filter(
  (component) => !(isImage && component.name === 'node'),
);
const all = [...packages, ...(isImage ? [await ofBaseImage()] : await ofEngine())];
const components = [...new Map(all.map((component) => [component['bom-ref'], component])).values()];
const component = { ...production.metadata.component, name, version, type: isImage ? 'container' : 'application' };
const { dependencies: _, ...head } = production;
process.stdout.write(
  `${JSON.stringify({ ...head, metadata: { ...head.metadata, component }, components }, null, 2)}\n`,
);
