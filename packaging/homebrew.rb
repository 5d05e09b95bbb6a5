class HandoverCli < Formula
  desc "@SUMMARY@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

@DOWNLOADS@
  def install
    bin.install "bin/handover"
    man1.install Dir["share/man/man1/*.1"]
    bash_completion.install "share/bash-completion/completions/handover"
    zsh_completion.install "share/zsh/site-functions/_handover"
    fish_completion.install "share/fish/vendor_completions.d/handover.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/handover --version")
    system bin/"handover", "init"
    assert_path_exists testpath/".handover"
  end
end
