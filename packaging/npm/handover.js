#!/usr/bin/env node
// Starts the program of this platform. Where scripts of packages may run, link.js has replaced this file with the
// program itself.
"use strict";

const { spawn } = require("node:child_process");
const { findProgram } = require("../platform.js");

function fail(message) {
  process.stderr.write(`handover: ${message}\n`);
  process.exit(5);
}

let program;
try {
  program = findProgram();
} catch (error) {
  fail(error.message);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`${program} does not start: ${error.message}`));
// Whoever stops this process means the program.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
