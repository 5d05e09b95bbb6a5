// Replaces the launcher with the program: hooks call it hundreds of times a day, and Node takes longer to start than
// the program to answer. Windows starts programs by their ending, so the launcher stays there, as it does wherever
// this fails.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { findProgram } = require("./platform.js");

try {
  const program = findProgram();
  if (process.platform !== "win32") {
    const launcher = path.join(__dirname, "bin", "handover");
    const beside = `${launcher}.new`;
    fs.rmSync(beside, { force: true });
    fs.linkSync(program, beside);
    fs.chmodSync(beside, 0o755);
    fs.renameSync(beside, launcher);
  }
} catch {
  // The launcher works without it, and explains what is missing when it is called.
}
