// Written by `handover host install opencode`, which also replaces it; `handover host uninstall opencode`
// removes it. It tells Handover what happens and does what Handover answers. If anything fails, opencode goes
// on as if it were not there.

import { spawn } from "node:child_process"

const COMMAND = "handover hook opencode"

/** How long Handover may take, in milliseconds; far longer than it does. */
const TIMEOUT = 15000

/** Runs the command with an event, and reads its answer. */
const run = (event, version) =>
  new Promise((resolve) => {
    const env = { ...process.env, HANDOVER_HOST_VERSION: version ?? "" }
    const stdio = ["pipe", "pipe", "ignore"]
    const child = spawn(COMMAND, { shell: true, cwd: event.cwd, env, stdio, timeout: TIMEOUT })
    let text = ""
    child.stdout.on("data", (data) => (text += data))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve({}))
    child.on("close", () => {
      try {
        resolve(text.trim() ? JSON.parse(text) : {})
      } catch {
        resolve({})
      }
    })
    child.stdin.end(JSON.stringify(event))
  })

const textOf = (parts) =>
  (parts ?? [])
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\n")

/** The place of what a subagent said, in the result of the task tool. */
const RESULT = /(<task_result>\n?)([\s\S]*)(\n?<\/task_result>)/

/** What a subagent said. */
const resultOf = (output) => RESULT.exec(output)?.[2].replace(/\n$/, "") ?? output

export const Handover = async ({ client, directory }) => {
  /** What is known of each session: its parent, its version, and what was added when it started. */
  const sessions = new Map()

  const session = async (id) => {
    if (!sessions.has(id)) {
      let info
      try {
        info = (await client.session.get({ path: { id } })).data
      } catch {
        // A session that cannot be looked up is taken for one of the user's.
      }
      sessions.set(id, { parent: info?.parentID, version: info?.version, kind: info?.agent })
    }
    return sessions.get(id)
  }

  const root = async (id) => {
    const { parent } = await session(id)
    return parent ? root(parent) : id
  }

  /** Reports an event of a session. */
  const tell = async (id, name, fields) => {
    const { parent, version, kind } = await session(id)
    const agent = parent ? { agent_id: id, agent_type: kind ?? "" } : {}
    const head = { hook_event_name: name, session_id: await root(id), cwd: directory }
    return run({ ...head, ...agent, ...fields }, version)
  }

  const open = async (id, source) => {
    const known = await session(id)
    if (known.parent) return
    const answer = await tell(id, "SessionStart", { source })
    known.opening = answer.hookSpecificOutput?.additionalContext ?? ""
  }

  /** Asks a subagent for what it forgot, and adds that to the result. */
  const stop = async (input, output) => {
    const id = output.metadata?.sessionId
    if (!id) return
    const known = await session(id)
    known.kind ??= input.args.subagent_type
    // The call that continues a subagent is not the one that spawned it.
    const call = input.args.task_id ? {} : { tool_use_id: input.callID }
    const said = { ...call, last_assistant_message: resultOf(output.output), stop_hook_active: false }
    const answer = await tell(id, "SubagentStop", said)
    if (answer.decision !== "block") return
    const body = { agent: known.kind, parts: [{ type: "text", text: answer.reason }] }
    const model = output.metadata.model
    const reply = await client.session.prompt({ path: { id }, body: model ? { ...body, model } : body })
    const more = textOf(reply.data?.parts)
    output.output = output.output.replace("</task_result>", () => `\n${more}\n</task_result>`)
    await tell(id, "SubagentStop", { ...call, last_assistant_message: more, stop_hook_active: true })
  }

  /** Lets the parent of a subagent read less, if Handover says so: the whole text is a package then. */
  const shorten = async (input, output) => {
    const returned = { tool_name: "task", tool_use_id: input.callID, tool_response: resultOf(output.output) }
    const answer = await tell(input.sessionID, "PostToolUse", { ...returned, tool_input: { prompt: input.args.prompt } })
    const text = answer.hookSpecificOutput?.updatedToolOutput
    if (typeof text !== "string") return
    output.output = RESULT.test(output.output)
      ? output.output.replace(RESULT, (_, open, __, close) => `${open}${text}${close}`)
      : text
  }

  return {
    event: async ({ event }) => {
      const id = event.properties?.sessionID
      if (event.type === "session.compacted") await open(id, "compact")
      if (event.type === "session.idle" && !(await session(id)).parent) await tell(id, "Stop", {})
    },

    "chat.message": async (input, output) => {
      const known = await session(input.sessionID)
      if (known.parent) {
        known.kind ??= input.agent
        const answer = await tell(input.sessionID, "UserPromptSubmit", { prompt: textOf(output.parts) })
        const text = answer.hookSpecificOutput?.additionalContext
        const part = output.parts.find((part) => part.type === "text")
        if (text && part) part.text = `${text}\n\n${part.text}`
      } else if (known.opening === undefined) {
        await open(input.sessionID, "startup")
      }
    },

    "experimental.chat.system.transform": async (input, output) => {
      const opening = sessions.get(input.sessionID)?.opening
      if (opening) output.system.push(opening)
    },

    "experimental.session.compacting": async (input) => {
      await tell(input.sessionID, "PreCompact", {})
    },

    "tool.execute.before": async (input, output) => {
      // A subagent that is continued has its brief.
      if (input.tool !== "task" || output.args.task_id) return
      const spawned = { tool_name: "task", tool_input: output.args, tool_use_id: input.callID }
      const answer = await tell(input.sessionID, "PreToolUse", spawned)
      const decided = answer.hookSpecificOutput ?? {}
      if (decided.permissionDecision === "deny") throw new Error(decided.permissionDecisionReason)
      if (decided.updatedInput) Object.assign(output.args, decided.updatedInput)
    },

    "tool.execute.after": async (input, output) => {
      if (input.tool === "task") {
        await stop(input, output)
        return shorten(input, output)
      }
      if (!["bash", "read", "write", "edit"].includes(input.tool)) return
      const { command, filePath } = input.args ?? {}
      const answer = await tell(input.sessionID, "PostToolUse", {
        tool_name: input.tool,
        tool_input: { command, file_path: filePath },
        exit_code: output.metadata?.exit,
        error: output.metadata?.exit ? output.output : undefined,
      })
      const text = answer.hookSpecificOutput?.additionalContext
      if (text) output.output += `\n\n${text}`
    },
  }
}
