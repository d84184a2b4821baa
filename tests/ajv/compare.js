// Reads what tests/ajv/pairs prints and asks ajv. TAP on standard output.
'use strict';

const fs = require('fs');
const path = require('path');

const modules = path.join(process.argv[2], 'node_modules');
const Ajv = require(path.join(modules, 'ajv'));
const Ajv2020 = require(path.join(modules, 'ajv/dist/2020'));
// All schemas have the same id, so none is kept.
const options = { strict: false, logger: false, addUsedSchema: false };
const drafts = { true: new Ajv(options), false: new Ajv2020(options) };
const fewest = 1000;

const agrees = (pair) => drafts[pair.draft_7].compile(pair.schema)(pair.document) === pair.met;

const lines = fs.readFileSync(0, 'utf8').split('\n').filter((line) => line !== '');
const counts = { true: 0, false: 0, null: 0 };
const wrong = [];
for (const line of lines) {
	const pair = JSON.parse(line);
	counts[pair.met] += 1;
	try {
		if (!agrees(pair)) wrong.push(line);
	} catch (error) {
		wrong.push(`${error.message}: ${line}`);
	}
}

const report = (n, ok, sentence) => {
	if (!ok) process.exitCode = 1;
	console.log(`${ok ? 'ok' : 'not ok'} ${n} - ${sentence}`);
};

console.log('1..2');
console.log(`# ${lines.length} pairs: ${counts.true} met, ${counts.false} broken, ${counts.null} not judged`);
report(1, counts.true >= fewest / 4 && counts.false >= fewest / 4 && lines.length >= fewest && counts.null === 0,
	'there are a thousand pairs, of both verdicts');
report(2, wrong.length === 0, 'ajv agrees about every pair');
for (const line of wrong.slice(0, 20)) console.log(`# ${line}`);
if (wrong.length > 20) console.log(`# and ${wrong.length - 20} more`);
