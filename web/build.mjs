// Bundles the page into one HTML file without data: node build.mjs NODE_MODULES OUTPUT.
// The licenses of all that is bundled stay in the page, in a comment at the end of its program.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [nodeModules, output] = process.argv.slice(2);
const source = join(dirname(fileURLToPath(import.meta.url)), 'src');
const esbuild = await import(pathToFileURL(join(nodeModules, 'esbuild', 'lib', 'main.js')).href);

async function bundle(entry) {
  const result = await esbuild.build({
    entryPoints: [join(source, entry)],
    nodePaths: [nodeModules],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'iife',
    outdir: 'out',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'eof',
    define: { global: 'window' },
    logLevel: 'warning',
  });
  // Importing plotly.js also gives a style sheet, of the maps that the page does not have.
  const wanted = entry.endsWith('.css') ? '.css' : '.js';
  return { text: result.outputFiles.find((file) => file.path.endsWith(wanted)).text, inputs: Object.keys(result.metafile.inputs) };
}

// The license texts of all packages that are in the bundle. Packages without such a file are named with their license.
async function licenses(inputs) {
  const names = new Set(inputs.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean));
  const texts = await Promise.all([...names].sort().map(async (name) => {
    const directory = join(nodeModules, name);
    const { version, license } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
    const file = (await readdir(directory)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? await readFile(join(directory, file), 'utf8') : `License: ${license}`;
    return `---- ${name} ${version}\n${text.trim()}\n`;
  }));
  return texts.join('\n').replaceAll('*/', '* /').replaceAll('</script', '<\\/script').replaceAll('<!--', '< !--');
}

const shell = await readFile(join(source, 'page.html'), 'utf8');
// A script in HTML ends at "</script", wherever it stands.
const { text, inputs } = await bundle('main.js');
const program = text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const parts = {
  '@STYLE@': (await bundle('style.css')).text,
  '@PROGRAM@': `${program}\n/*\n${await licenses(inputs)}\n*/`,
};
const page = shell.replace(/@STYLE@|@PROGRAM@/g, (place) => parts[place]);
if (page.split('@REPORT_DATA@').length !== 2) throw new Error('the place of the data must occur exactly once');
await writeFile(output, page);
