#!/usr/bin/env node
import { runCli } from '../dist/cli/cli.js';

process.exitCode = await runCli(process.argv.slice(2), process.env);
